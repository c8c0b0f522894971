package behaviour

import (
	"fmt"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// election is the Election of the contest's Lease.
func (c *contest) election() (*v1alpha1.Election, error) {
	election := &v1alpha1.Election{}
	return election, client.Get(c.t.Context(), ctrlclient.ObjectKey{Namespace: c.namespace, Name: c.namespace}, election)
}

// condition returns what reads a condition of the Election.
func (c *contest) condition(kind string) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		election, err := c.election()
		if err != nil {
			return nil, err
		}
		if found := meta.FindStatusCondition(election.Status.Conditions, kind); found != nil {
			return found, nil
		}
		return nil, fmt.Errorf("the Election has no condition %s", kind)
	}
}

// beTrue matches a condition that is true for that reason.
func beTrue(reason, message string) OmegaMatcher {
	return And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", reason), HaveField("Message", message))
}

// verdicts are the names of the candidates that the Election lists.
func (c *contest) verdicts() ([]string, error) {
	election, err := c.election()
	names := []string{}
	for _, verdict := range election.Status.Candidates {
		names = append(names, verdict.Name)
	}
	return names, err
}

func TestElectionTellsWhoLeadsAndWhy(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion, patient)
	c.elect("older", older, "node-1")
	c.leads("older")
	c.elect("newer", newer, "node-2")
	c.running("newer")
	g.Eventually(c.election, soon, often).Should(HaveField("Status", gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
		"Policy":    Equal("ElectionPolicy/policy"),
		"Strategy":  Equal(v1alpha1.OldestEmulationVersion),
		"Mode":      Equal(v1alpha1.Enforce),
		"Chosen":    Equal("older"),
		"Criterion": Equal(byEmulationVersion),
		"Eligible":  Equal("2/2"),
		"Holder": gstruct.PointTo(And(
			HaveField("Name", "older"), HaveField("Identity", HavePrefix("older_")), HaveField("Since", Not(BeNil())))),
		"Candidates": HaveExactElements(
			beVerdict("older", "node-1", older), beVerdict("newer", "node-2", newer)),
		"Terms": HaveExactElements(beTerm("older", older, "")),
		"Conditions": ContainElements(
			And(HaveField("Type", v1alpha1.ConditionReady), HaveField("Status", metav1.ConditionTrue)),
			And(HaveField("Type", v1alpha1.ConditionPolicyConflict), HaveField("Status", metav1.ConditionFalse)),
			And(HaveField("Type", v1alpha1.ConditionNoEligibleCandidate), HaveField("Status", metav1.ConditionFalse)),
			And(HaveField("Type", v1alpha1.ConditionHolderNotChosen), HaveField("Status", metav1.ConditionFalse)),
		),
	})))

	before, err := c.election()
	g.Expect(err).NotTo(HaveOccurred())
	c.awaitRenewals(12)
	after, err := c.election()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(after.ResourceVersion).To(Equal(before.ResourceVersion), "renewals are no news")
}

// The first term ends by a release, the second since its holder hangs.
func TestElectionKeepsTheTerms(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion)
	c.elect("a", older, "node-1")
	c.leads("a")
	c.elect("b", older, "node-2")
	c.elect("c", newer, "node-2")
	c.running("b")
	c.running("c")
	c.remove("a") // which has it release the Lease
	c.leads("b")
	g.Eventually(c.terms, soon, often).Should(HaveExactElements(
		beTerm("b", older, ""), beTerm("a", older, v1alpha1.TermReleased)))

	g.Expect(cluster.Signal(c.namespace, "b", container, syscall.SIGSTOP)).To(Succeed())
	g.Eventually(c.terms, electing, often).Should(HaveExactElements(
		beTerm("c", newer, ""), beTerm("b", older, v1alpha1.TermExpired), beTerm("a", older, v1alpha1.TermReleased)))
	terms, err := c.terms()
	g.Expect(err).NotTo(HaveOccurred())
	for i := range terms[1:] {
		g.Expect(terms[i].Start.Time).To(BeTemporally(">=", terms[i+1].End.Time), "no two terms overlap")
		g.Expect(terms[i+1].End.Time).To(BeTemporally(">=", terms[i+1].Start.Time))
	}
}

// terms are those of the Election, the newest first.
func (c *contest) terms() ([]v1alpha1.Term, error) {
	election, err := c.election()
	return election.Status.Terms, err
}

// beVerdict matches that of a Pod which may lead.
func beVerdict(name, node, version string) OmegaMatcher {
	return gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
		"Name": Equal(name), "Sources": HaveExactElements("Pod"), "Node": Equal(node), "Version": Equal(version),
		"Eligible": BeTrue(), "Reason": BeEmpty(), "Scores": HaveExactElements(version, version),
	})
}

// beTerm matches a term that ended for that reason; without one, it goes on.
func beTerm(holder, version, endReason string) OmegaMatcher {
	ended := BeNil()
	if endReason != "" {
		ended = Not(BeNil())
	}
	return gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
		"Holder": Equal(holder), "Identity": HavePrefix(holder + "_"), "Version": Equal(version),
		"Start": Not(BeZero()), "End": ended, "EndReason": Equal(endReason), "Criterion": Not(BeEmpty()),
	})
}
