package behaviour

import (
	"context"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// The older replica hangs before it can try; the newer one tries, is turned
// away, and keeps trying. Once the older one wakes up, it leads; once it is
// gone, the newer one does.
func TestOldestLeadsThoughANewerTriedFirst(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, brisk)
	c.govern(byVersion, func(spec *v1alpha1.ElectionPolicySpec) {
		spec.AcquireDeadline = &metav1.Duration{Duration: 60e9} // it hangs for a while
	})
	c.run("older", older, "node-1")
	g.Eventually(func() error {
		return cluster.Signal(c.namespace, "older", container, syscall.SIGSTOP)
	}, soon, "1ms").Should(Succeed())
	c.running("older")
	c.run("newer", newer, "node-2")
	g.Eventually(func() string { return c.refused("newer") }, soon, often).Should(And(
		ContainSubstring(c.namespace), ContainSubstring("older"), ContainSubstring("EmulationVersion"), ContainSubstring("policy"),
	), "the refusal names the lease, the chosen candidate, the criterion and the policy")
	g.Consistently(c.holder, "2s", often).Should(BeEmpty(), "nobody leads while the chosen one hangs, within the deadline")

	g.Expect(cluster.Signal(c.namespace, "older", container, syscall.SIGCONT)).To(Succeed())
	c.leads("older")

	c.remove("older")
	c.leads("newer")
}

func TestRenewalsDoNotCallTheWebhook(t *testing.T) {
	// Not parallel: it counts the calls of all Leases.
	g := NewWithT(t)
	c := newContest(t, eager)
	c.govern(byVersion)
	c.run("only", older, "node-1")
	c.leads("only")
	alone(t)

	before, err := warden.Counter("controller_runtime_webhook_requests_total")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(before).To(BeNumerically(">", 0), "the acquire was counted")
	c.awaitRenewals(100)
	after, err := warden.Counter("controller_runtime_webhook_requests_total")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(after-before).To(BeZero(), "webhook calls over 100 renewals")
}

// awaitRenewals waits until the holder has renewed the Lease n times.
func (c *contest) awaitRenewals(n int) {
	c.t.Helper()
	g := NewWithT(c.t)
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	w, err := kube.CoordinationV1().Leases(c.namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", c.namespace).String(),
	})
	g.Expect(err).NotTo(HaveOccurred())
	defer w.Stop()
	for renewals := 0; renewals < n; {
		var e watch.Event
		g.Eventually(w.ResultChan(), soon).Should(Receive(&e))
		if e.Type == watch.Modified {
			renewals++
		}
	}
}

// A dead webhook costs a healthy leader nothing, and a new election still ends.
func TestElectionsGoOnWithoutTheWebhook(t *testing.T) {
	// Not parallel: it takes the webhook away from all.
	g := NewWithT(t)
	c := newContest(t, brisk)
	c.govern(byVersion)
	c.run("a", older, "node-1")
	c.leads("a")
	c.run("b", newer, "node-2")
	c.running("b")

	g.Expect(warden.Kill()).To(Succeed())
	t.Cleanup(func() { revive(g) })
	lease, err := kube.CoordinationV1().Leases(c.namespace).Get(t.Context(), c.namespace, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Consistently(c.holder, "8s", often).Should(Equal("a"), "two terms long, the leader keeps its lease")
	still, err := kube.CoordinationV1().Leases(c.namespace).Get(t.Context(), c.namespace, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(still.Spec.LeaseTransitions).To(Equal(lease.Spec.LeaseTransitions), "it never lost it in between")

	_, err = cluster.KillContainer(c.namespace, "a", container)
	g.Expect(err).NotTo(HaveOccurred())
	c.remove("a")
	c.leads("b")
}

// revive starts Leasewarden again after Kill. The dead replica that wrote to the
// cluster cannot release its own Lease, and the tests to come do not wait for it
// to run out.
func revive(g *WithT) {
	ctx := context.Background()
	g.Expect(kube.CoordinationV1().Leases(installation.Namespace).Delete(ctx, "leasewarden", metav1.DeleteOptions{})).To(Succeed())
	g.Expect(warden.Start(ctx)).To(Succeed())
}
