package behaviour

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// One namespace has more names governed than can be registered. That is its own
// problem: it is told so, and the policies of others are in effect.
func TestPoliciesOfOneNamespaceDoNotCrowdOutOthers(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	greedy, modest := newContest(t, quick), newContest(t, quick)
	var last *v1alpha1.ElectionPolicy
	for i := range 26 {
		last = &v1alpha1.ElectionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("policy-%02d", i), Namespace: greedy.namespace},
			Spec:       v1alpha1.ElectionPolicySpec{Strategy: byVersion},
		}
		for n := range 100 {
			last.Spec.Leases.Names = append(last.Spec.Leases.Names, fmt.Sprintf("%03d-%0246d", n, i))
		}
		g.Expect(client.Create(t.Context(), last)).To(Succeed())
	}
	g.Eventually(ready(t, last), soon, often).Should(And(
		HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "NoRoom"), HaveField("Message", ContainSubstring("name fewer Leases"))))

	policy := modest.govern(byVersion, patient, withoutPods)
	g.Eventually(ready(t, policy), soon, often).Should(beTrue("InEffect", "the policy is in effect"))
	modest.register("host-a", older)
	modest.register("host-b", newer)
	modest.ruled("host-b_1", chosen("host-a", byEmulationVersion))
	refused := modest.compete("host-b_1")
	modest.awaitRefusal(refused, "host-a is chosen")

	// With the others gone, there is room.
	g.Expect(client.DeleteAllOf(t.Context(), &v1alpha1.ElectionPolicy{}, ctrlclient.InNamespace(greedy.namespace))).To(Succeed())
	last.ResourceVersion, last.UID = "", ""
	g.Expect(client.Create(t.Context(), last)).To(Succeed())
	g.Eventually(ready(t, last), soon, often).Should(beTrue("InEffect", "the policy is in effect"))
}

// ready returns what reads whether a policy is in effect.
func ready(t *testing.T, policy *v1alpha1.ElectionPolicy) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		found := &v1alpha1.ElectionPolicy{}
		if err := client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(policy), found); err != nil {
			return nil, err
		}
		for i := range found.Status.Conditions {
			if found.Status.Conditions[i].Type == v1alpha1.ConditionReady {
				return &found.Status.Conditions[i], nil
			}
		}
		return nil, fmt.Errorf("%s has no condition Ready", policy.Name)
	}
}

// The API server takes holder identities of any length. One of 1 MB is admitted
// as it would be without us, and told of in a few bytes.
func TestHugeIdentityIsToldOfBriefly(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion, withoutPods)
	c.register("host-a", older)
	c.ruled("host-a_1", Equal(allowed))
	_, err := c.acquire(kube, "host-a_"+strings.Repeat("x", 1<<20))
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (string, error) {
		election, err := c.election()
		if err != nil || election.Status.Holder == nil {
			return "", err
		}
		return election.Status.Holder.Name, nil
	}, soon, often).Should(Equal("host-a"))
	election, err := c.election()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(election.Status.Holder.Identity).To(HavePrefix("host-a_xxx"))
	g.Expect(len(election.Status.Holder.Identity)).To(BeNumerically("<=", 512))
}
