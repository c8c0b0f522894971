package behaviour

import (
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/elector"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// A leader dies while Leasewarden is partly or wholly down. Of two replicas, one
// is the one that writes.
func TestNoLeaseIsLeftVacantWhenLeasewardenIsKilled(t *testing.T) {
	// Not parallel: it takes Leasewarden away from all.
	c := newContest(t, quick)
	c.govern(byVersion)
	c.keep("a", older, "node-1")
	c.leads("a")
	c.keep("b", older, "node-2")
	c.keep("c", newer, "node-2")
	for _, down := range []struct {
		name     string
		replicas []*installation.Replica
	}{
		{"one replica", warden.Replicas[:1]},
		{"the other replica", warden.Replicas[1:]},
		{"all replicas", warden.Replicas},
	} {
		t.Run(down.name, func(t *testing.T) {
			g := NewWithT(t)
			c := &contest{t: t, namespace: c.namespace, times: c.times}
			c.allRun()
			for _, r := range down.replicas {
				g.Expect(r.Kill()).To(Succeed())
			}
			t.Cleanup(func() { revive(g) })
			// The term runs out, and then the chosen one is waited for.
			c.succeeds(c.kill(), 2*quick.LeaseDuration)
		})
	}
}

func TestChosenCandidateThatHangsIsPassedOver(t *testing.T) {
	t.Parallel()
	const long = 45 * time.Second
	for name, test := range map[string]struct{ deadline, bound time.Duration }{
		"after the deadline":                    {0, quick.LeaseDuration},
		"sooner, for others tried often enough": {long, long / 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			c := newContest(t, quick)
			c.govern(byVersion, func(spec *v1alpha1.ElectionPolicySpec) {
				if test.deadline > 0 {
					spec.AcquireDeadline = &metav1.Duration{Duration: test.deadline}
				}
			})
			c.elect("a", older, "node-1")
			c.leads("a")
			c.elect("b", older, "node-2")
			c.elect("c", newer, "node-2")
			c.running("b")
			c.running("c")
			c.knows("b")
			c.knows("c")
			c.hang("b")
			c.remove("a")
			g.Expect(c.succeeds(c.stopped("a"), test.bound)).To(Equal("c"))
			g.Expect(c.refused("c")).To(ContainSubstring("b is chosen"), "before that it was kept for the chosen one")
		})
	}
}

// What an expression costs depends on the candidates. One that is within bounds
// for Pods of the usual size can fail for those that come.
func TestPolicyThatBreaksAtRunTimeLeavesNoLeaseVacant(t *testing.T) {
	t.Parallel()
	const costly = `candidate.annotations['big'].contains('no such text')`
	deadline := 3 * time.Second
	filter := func(cel string) v1alpha1.Strategy {
		return v1alpha1.Strategy{Filters: []v1alpha1.FilterEntry{{CEL: cel}}, Scores: []v1alpha1.ScoreEntry{{Plugin: "OldestBinaryVersion"}}}
	}
	for name, test := range map[string]struct {
		strategy v1alpha1.Strategy
		verdict  OmegaMatcher
	}{
		"a score that costs too much": {
			v1alpha1.Strategy{Scores: []v1alpha1.ScoreEntry{{CEL: costly}}}, HaveField("Scores", HaveExactElements("-")),
		},
		"a filter that costs too much": {filter(costly), HaveField("Reason", ContainSubstring("cannot be evaluated"))},
		"a filter that fails": {
			filter(`candidate.labels['pool'] != 'spot'`), HaveField("Reason", ContainSubstring("no such key: pool")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			c := newContest(t, quick)
			test.strategy.Name = v1alpha1.Custom
			c.govern(test.strategy, func(spec *v1alpha1.ElectionPolicySpec) {
				spec.AcquireDeadline = &metav1.Duration{Duration: deadline}
			})
			for pod, node := range map[string]string{"a": "node-1", "b": "node-2"} {
				c.start(pod, node, corev1.Container{
					Image: "testprogram:" + older,
					Args:  []string{"elect", c.namespace, quick.LeaseDuration.String(), quick.RenewDeadline.String(), quick.RetryPeriod.String()},
				}, func(pod *corev1.Pod) {
					pod.Annotations = map[string]string{"big": strings.Repeat("x", 200_000)}
				})
			}
			c.running("a")
			c.running("b")
			c.next(time.Time{})
			g.Eventually(func() ([]v1alpha1.CandidateVerdict, error) {
				election, err := c.election()
				return election.Status.Candidates, err
			}, soon, often).Should(And(HaveLen(2), HaveEach(test.verdict)), "it does break")
			leader := c.holder()
			c.remove(leader)
			c.succeeds(c.stopped(leader), deadline)
		})
	}
}

// Leasewarden is restarted while a holder is being made to step down, and its
// replacement waits.
func TestStepDownGoesOnAfterARestart(t *testing.T) {
	// Not parallel: it takes Leasewarden away from all.
	g := NewWithT(t)
	times := elector.Timings{LeaseDuration: 8 * time.Second, RenewDeadline: 6 * time.Second, RetryPeriod: 500 * time.Millisecond}
	c := newContest(t, times)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	c.keep("new", newer, "node-1")
	c.leads("new")
	c.keep("old", older, "node-2")
	g.Eventually(func() string { return c.refused("new") }, soon, often).Should(ContainSubstring("was told to step down"))
	g.Expect(warden.Kill()).To(Succeed())
	c.awaitRenewals(3)
	revive(g)
	stopped := c.stopped("new")
	g.Expect(c.succeeds(stopped, times.LeaseDuration)).To(Equal("old"))
	g.Eventually(c.order, soon, often).Should(BeEmpty(), "the order goes with the holder")
}

// Leasewarden hangs: it takes connections and never answers. Healthy leaders do
// not notice, not even one that was told to step down, and elections go on.
func TestNobodyLosesALeaseWhenLeasewardenHangs(t *testing.T) {
	// Not parallel: it takes Leasewarden away from all.
	g := NewWithT(t)
	// The components' own timings are longer still.
	times := elector.Timings{LeaseDuration: 8 * time.Second, RenewDeadline: 6 * time.Second, RetryPeriod: 500 * time.Millisecond}
	healthy, ordered, strict, dying := newContest(t, times), newContest(t, times), newContest(t, times), newContest(t, times)
	ordered.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	strict.govern(byVersion, func(spec *v1alpha1.ElectionPolicySpec) { spec.FailurePolicy = v1alpha1.Fail })
	for _, c := range []*contest{healthy, dying} {
		c.govern(byVersion)
	}
	for _, c := range []*contest{healthy, ordered, strict, dying} {
		c.keep("a", newer, "node-1")
		c.leads("a")
	}
	for _, c := range []*contest{healthy, strict, dying} {
		c.keep("b", newer, "node-2")
		c.running("b")
	}
	ordered.idle("b", older, "node-2")
	g.Eventually(func() string { return ordered.refused("a") }, soon, often).Should(ContainSubstring("was told to step down"))

	for _, r := range warden.Replicas {
		g.Expect(r.Signal(syscall.SIGSTOP)).To(Succeed())
	}
	t.Cleanup(func() {
		g.Expect(warden.Kill()).To(Succeed())
		revive(g)
	})
	killed := dying.kill()
	leaders := func() (all []string) {
		for _, c := range []*contest{healthy, ordered, strict} {
			all = append(all, c.identity())
		}
		return all
	}
	before := leaders()
	g.Consistently(leaders, "60s", "250ms").Should(Equal(before))
	for _, c := range []*contest{healthy, ordered, strict} {
		c.awaitRenewals(2)
		g.Expect(elector.Terms(c.records())).To(HaveLen(1), "it has led ever since")
	}
	// Each of the two webhooks that are asked about an acquire takes its second.
	dying.succeeds(killed, times.LeaseDuration+2*time.Second)
}
