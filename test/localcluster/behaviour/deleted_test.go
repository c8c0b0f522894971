package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Deleting a Lease does not cut its holder's term short, whichever replica the
// API server asks: also one that was never asked about that Lease before.
func TestDeletedTermRunsOnInEveryReplica(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion, patient, withoutPods)
	c.register("host-a", older)
	c.register("host-b", newer)
	const identity = "host-a_1"
	holder := c.compete(identity)
	c.leads("host-a")
	c.awaitRenewals(3)
	holder.kill()
	g.Expect(kube.CoordinationV1().Leases(c.namespace).Delete(t.Context(), c.namespace, metav1.DeleteOptions{})).To(Succeed())

	tooEarly := And(HaveLen(2), HaveEach(ContainSubstring("is too early: the term of %s runs for another", identity)))
	g.Eventually(func() ([]string, error) { return c.creations("host-b_1") }, soon, often).Should(tooEarly)
	g.Consistently(func() ([]string, error) { return c.creations("host-b_1") }, "3s", often).Should(tooEarly)
	g.Expect(c.creations(identity)).To(And(HaveLen(2), HaveEach(allowed)), "the holder itself may have it back")
}
