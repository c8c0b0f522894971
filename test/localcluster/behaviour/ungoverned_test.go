package behaviour

import (
	"context"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// requests is how many requests the webhook has had.
func requests(t *testing.T) float64 {
	t.Helper()
	n, err := warden.Counter("controller_runtime_webhook_requests_total")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return n
}

// alone waits until the namespaces of earlier contests are gone: the webhook is
// asked about each governed Lease that goes with its namespace.
func alone(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func() ([]corev1.Namespace, error) {
		list, err := kube.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(list.Items, func(ns corev1.Namespace) bool { return ns.DeletionTimestamp == nil }), nil
	}, electing, often).Should(BeEmpty())
}

// A Lease of another name, one of that name in another namespace, and those
// that no policy can govern live their lives without a word to us.
func TestUngovernedLeasesAreNotSent(t *testing.T) {
	// Not parallel: it counts the calls of all Leases.
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion, withoutPods)
	c.register("host-a", older)
	c.ruled("host-a_1", Equal(allowed))
	elsewhere := newContest(t, quick)
	alone(t)

	before := requests(t)
	live(t, c.namespace, c.namespace+"-2")
	live(t, elsewhere.namespace, c.namespace)
	g.Expect(requests(t)-before).To(BeZero(), "requests for Leases of another name or namespace")
	_, err := c.acquire(kube, "host-a_1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(requests(t)-before).To(BeEquivalentTo(2), "requests for the governed one, to both halves")

	everything := elsewhere.governAll()
	before = requests(t)
	live(t, corev1.NamespaceNodeLease, c.namespace)
	live(t, installation.Namespace, c.namespace)
	g.Expect(requests(t)-before).To(BeZero(), "requests for Leases that are never governed")
	live(t, elsewhere.namespace, c.namespace)
	g.Expect(requests(t)-before).To(BeNumerically(">", 0), "requests for one that is")
	g.Expect(client.Delete(t.Context(), everything)).To(Succeed())
}

// governAll has all Leases of the cluster governed in dry run, and waits until
// the API server asks about them.
func (c *contest) governAll() *v1alpha1.ClusterElectionPolicy {
	c.t.Helper()
	g := NewWithT(c.t)
	policy := &v1alpha1.ClusterElectionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace},
		Spec: v1alpha1.ClusterElectionPolicySpec{ElectionPolicySpec: v1alpha1.ElectionPolicySpec{
			Leases: v1alpha1.LeaseSelection{Names: []string{"*"}}, Mode: v1alpha1.DryRun, Strategy: byVersion,
		}},
	}
	g.Expect(client.Create(c.t.Context(), policy)).To(Succeed())
	c.t.Cleanup(func() { _ = client.Delete(context.Background(), policy) })
	g.Eventually(func() float64 {
		before := requests(c.t)
		live(c.t, c.namespace, "probe")
		return requests(c.t) - before
	}, soon, often).Should(BeNumerically(">", 0))
	return policy
}

// live has a Lease made, acquired, renewed, taken over, released, acquired
// again and deleted.
func live(t *testing.T, namespace, name string) {
	t.Helper()
	g := NewWithT(t)
	leases := kube.CoordinationV1().Leases(namespace)
	lease, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, holder := range []string{"a", "a", "a", "b", "", "a"} {
		now := metav1.NowMicro()
		lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &holder, &now, new(int32(15))
		lease, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(leases.Delete(t.Context(), name, metav1.DeleteOptions{})).To(Succeed())
}
