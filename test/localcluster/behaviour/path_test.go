package behaviour

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// outOfThePath is how soon nothing is ruled on any more, and inThePath how often
// that is tried.
const (
	outOfThePath = "2s"
	tryOften     = "20ms"
)

// A Lease that nobody but host-a may acquire, which never tries, is anybody's as
// soon as its policy does not hold any more.
func TestPolicyThatEndsLeavesThePathAtOnce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*contest, *v1alpha1.ElectionPolicy) error{
		"Disabled": func(c *contest, policy *v1alpha1.ElectionPolicy) error {
			c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.Mode = v1alpha1.Disabled })
			return nil
		},
		"deleted": func(c *contest, policy *v1alpha1.ElectionPolicy) error { return client.Delete(c.t.Context(), policy) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			c := newContest(t, quick)
			policy := c.govern(byVersion, patient, withoutPods)
			c.register("host-a", older)
			c.ruled("host-b_1", ContainSubstring("is not a registered candidate"))
			_, err := c.acquire(kube, "host-b_1")
			g.Expect(err).To(MatchError(ContainSubstring("is not a registered candidate")))

			g.Expect(end(c, policy)).To(Succeed())
			ended := time.Now()
			g.Eventually(func() (bool, error) {
				named, err := c.named()
				return !named, err
			}, outOfThePath, tryOften).Should(BeTrue(), "no webhook is registered for it")
			g.Eventually(func() error {
				_, err := c.acquire(kube, "host-b_1")
				return err
			}, time.Until(ended.Add(2*time.Second)), tryOften).Should(Succeed())
			g.Expect(c.held().Annotations).To(BeEmpty())
			t.Logf("out of the path after %s", time.Since(ended).Round(10*time.Millisecond))
		})
	}
}
