package behaviour

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const byEmulationVersion = "OldestEmulationVersion"

func TestPodsAreCandidates(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion, patient)
	c.idle("older", older, "node-1")
	c.elect("newer", newer, "node-2")
	g.Eventually(func() string { return c.refused("newer") }, soon, often).Should(chosen("older", byEmulationVersion))

	c.ruled("older_x", Equal(allowed))
	c.ruled("newer_x", chosen("older", byEmulationVersion))
	c.ruled("new_x", ContainSubstring("holder identity new_x is not a registered candidate"))
	c.remove("older")
	c.leads("newer")
	c.ruled("older_x", ContainSubstring("is not a registered candidate"))
	c.ruled("newer_x", Equal(allowed))
}

// candidacy announces an elector by a LeaseCandidate, as client-go does it,
// for a strategy that Kubernetes itself leaves to others.
func (c *contest) candidacy(identity, version string) (withdraw func()) {
	c.t.Helper()
	g := NewWithT(c.t)
	const strategy = coordinationv1.CoordinatedLeaseStrategy("leasewarden.dev/by-policy")
	candidate, _, err := leaderelection.NewCandidate(kube, c.namespace, identity, c.namespace, version, version, strategy)
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		candidate.Run(ctx)
	}()
	c.t.Cleanup(func() { cancel(); <-done })
	return func() {
		cancel()
		<-done
		g.Expect(kube.CoordinationV1beta1().LeaseCandidates(c.namespace).Delete(c.t.Context(), identity, metav1.DeleteOptions{})).To(Succeed())
	}
}

func TestLeaseCandidatesAreCandidates(t *testing.T) {
	t.Parallel()
	c := newContest(t, quick)
	c.govern(byVersion, patient, withoutPods)
	withdraw := c.candidacy("older_1", "1.36.3")
	c.candidacy("newer_1", "1.37.2")
	c.ruled("older_1", Equal(allowed))
	c.ruled("newer_1", chosen("older_1", byEmulationVersion))
	c.ruled("newer_2", ContainSubstring("is not a registered candidate"))

	newer := c.compete("newer_1")
	c.awaitRefusal(newer, "older_1 is chosen by OldestEmulationVersion (1.36.3 over 1.37.2)")
	older := c.compete("older_1")
	c.leads("older")

	older.kill()
	withdraw()
	c.ruled("older_1", ContainSubstring("is not a registered candidate"))
	c.ruled("newer_1", Equal(allowed))
	c.leads("newer")
}

// register registers a process on a host that is not a node.
func (c *contest) register(host, version string) *v1alpha1.Candidate {
	c.t.Helper()
	candidate := &v1alpha1.Candidate{
		ObjectMeta: metav1.ObjectMeta{Name: host, Namespace: c.namespace},
		Spec:       v1alpha1.CandidateSpec{LeaseName: c.namespace, Hostname: host, BinaryVersion: version},
	}
	NewWithT(c.t).Expect(client.Create(c.t.Context(), candidate)).To(Succeed())
	return candidate
}

// limit ends a registration that long after it was renewed last.
func (c *contest) limit(candidate *v1alpha1.Candidate, seconds int32) {
	c.t.Helper()
	before := candidate.DeepCopy()
	candidate.Spec.TTLSeconds = &seconds
	NewWithT(c.t).Expect(client.Patch(c.t.Context(), candidate, ctrlclient.MergeFrom(before))).To(Succeed())
}

func TestRegistrationsAreCandidates(t *testing.T) {
	t.Parallel()
	c := newContest(t, quick)
	c.govern(byVersion, patient, withoutPods)
	registration := c.register("host-a", older)
	c.register("host-b", newer)
	c.ruled("host-a_x", Equal(allowed))
	c.ruled("host-b_x", chosen("host-a", byEmulationVersion))
	c.ruled("host-c_x", ContainSubstring("is not a registered candidate"))

	b := c.compete("host-b_1")
	c.awaitRefusal(b, "host-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2)")
	a := c.compete("host-a_1")
	c.leads("host-a")

	a.kill()
	c.limit(registration, 1)
	c.ruled("host-a_x", ContainSubstring("registration has expired"))
	c.ruled("host-b_x", Equal(allowed))
	c.leads("host-b")
}

// Nobody registered the two, so their attempts do. The first one dies as the
// holder, and is chosen to come back until the deadline.
func TestAttemptsMakeCandidates(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(v1alpha1.Strategy{Name: v1alpha1.Sticky}, withoutPods, func(spec *v1alpha1.ElectionPolicySpec) {
		spec.Candidates.Unregistered = v1alpha1.RegisterUnregistered
		spec.AcquireDeadline = &metav1.Duration{Duration: 6 * time.Second}
	})
	writes := c.watchRegistrations()
	first := c.compete("first_1")
	c.leads("first")
	registration := c.registrationOf("first_1")
	g.Expect(registration.Spec.Origin).To(Equal(v1alpha1.OriginAttempt))
	g.Expect(registration.Spec.RenewTime).NotTo(BeNil())
	g.Expect(registration.Spec.TTLSeconds).To(HaveValue(BeEquivalentTo(600)))
	c.ruled("first_1", Equal(allowed))
	c.ruled("second_1", chosen(registration.Name, "Sticky"))

	first.kill()
	second := c.compete("second_1")
	c.awaitRefusal(second, registration.Name+" is chosen by Sticky")
	c.leads("second")
	g.Expect(writes()).To(And(HaveLen(2), HaveEach(1)), "writes by candidate, over the attempts of seconds")

	c.limit(registration, 1)
	g.Eventually(func() error {
		return client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(registration), registration)
	}, expiring, often).Should(MatchError(apierrors.IsNotFound, "not found"), "the registration is removed")
	g.Eventually(c.verdicts, soon, often).Should(HaveExactElements(c.registrationOf("second_1").Name), "and nobody remembers it")
}

// expiring is more than it takes Leasewarden to remove what has expired, which
// it looks for once a minute.
const expiring = "75s"

// registrationOf is the Candidate that an attempt of that identity made.
func (c *contest) registrationOf(identity string) *v1alpha1.Candidate {
	c.t.Helper()
	var found *v1alpha1.Candidate
	NewWithT(c.t).Eventually(func(g Gomega) {
		list := &v1alpha1.CandidateList{}
		g.Expect(client.List(c.t.Context(), list, ctrlclient.InNamespace(c.namespace))).To(Succeed())
		for i := range list.Items {
			if list.Items[i].Spec.Identity == identity {
				found = &list.Items[i]
			}
		}
		g.Expect(found).NotTo(BeNil(), "a Candidate with the identity %s", identity)
	}, soon, often).Should(Succeed())
	return found
}

// watchRegistrations counts the writes to each Candidate from now on.
func (c *contest) watchRegistrations() (counts func() map[string]int) {
	c.t.Helper()
	w, err := client.Watch(c.t.Context(), &v1alpha1.CandidateList{}, ctrlclient.InNamespace(c.namespace))
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
	c.t.Cleanup(w.Stop)
	writes := map[string]int{}
	return func() map[string]int {
		for {
			select {
			case e := <-w.ResultChan():
				writes[e.Object.(*v1alpha1.Candidate).Name]++
			case <-time.After(time.Second):
				return writes
			}
		}
	}
}
