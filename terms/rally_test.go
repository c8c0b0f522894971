package terms

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestRally(t *testing.T) {
	now := time.Unix(0, 0)
	var r rally
	pauses := func(what, candidate string, want time.Duration) {
		t.Helper()
		if got := r.pause(candidate, now); got != want {
			t.Errorf("%s: %s waits for %v, want %v", what, candidate, got, want)
		}
	}
	move := func(holder, replacement string) {
		now = now.Add(time.Minute)
		r.begin(holder+"_1", holder)
		r.look(holder+"_1", holder, now)
		r.look("", "", now)
		r.look(replacement+"_1", replacement, now)
	}

	pauses("nobody was moved", "b", 0)
	move("a", "b")
	pauses("it never led", "c", 0)
	pauses("the first return", "a", 0)
	for range 9 {
		r.begin("b_1", "b")
		r.end()
	}
	pauses("orders that were taken back", "a", 0)
	move("b", "a")
	move("a", "b")
	pauses("the third", "a", 0)
	move("b", "a")
	pauses("the fourth", "b", 5*time.Minute)
	pauses("somebody new", "c", 0)
	r.begin("a_1", "a")
	r.end()
	pauses("an order that was taken back", "a", 5*time.Minute)
	move("a", "b")
	pauses("the fifth", "a", 10*time.Minute)
	for range 10 {
		move("b", "a")
		move("a", "b")
	}
	pauses("it never ends", "a", time.Hour)

	now = now.Add(rallyWindow + time.Second)
	pauses("long after", "a", 0)
	move("b", "a")
	move("a", "b")
	pauses("and anew", "a", 0)
	if len(r.left) != 2 {
		t.Errorf("remembers %d candidates, want 2", len(r.left))
	}
}

// A rolling update under a policy that prefers the newest goes from one to the
// next, and never back.
func TestRallyLetsRolloutsBe(t *testing.T) {
	now := time.Unix(0, 0)
	var r rally
	for i := range 26 {
		holder, replacement := string(rune('a'+i)), string(rune('a'+i+1))
		if got := r.pause(replacement, now); got != 0 {
			t.Fatalf("%s waits for %v", replacement, got)
		}
		r.begin(holder, holder)
		r.look(replacement, replacement, now)
	}
}

// A policy that prefers the one that does not lead has the two of them make way
// for each other, until it is restrained.
func TestPolicyThatContradictsItselfIsRestrained(t *testing.T) {
	t.Run("for a while", func(t *testing.T) {
		inBubble(t, func(t *testing.T, c *cluster) {
			acquired := rallies(t, c)
			c.renew("a_1", acquired, 4*time.Minute)
			if c.order() != "" || c.stepping() != reasonRestrained {
				t.Fatalf("the order is %q, and SteppingDown %s", c.order(), c.stepping())
			}
			c.renew("a_1", acquired, 2*time.Minute)
			if c.order() != "a_1" {
				t.Errorf("it never ends: %s", c.stepping())
			}
		})
	})
	t.Run("but for a person", func(t *testing.T) {
		inBubble(t, func(t *testing.T, c *cluster) {
			acquired := rallies(t, c, election(v1alpha1.ElectionSpec{Pin: "b"}))
			c.renew("a_1", acquired, time.Second)
			if c.order() != "a_1" {
				t.Errorf("what a person asks for is restrained: %s", c.stepping())
			}
		})
	})
}

// A leader that should not lead at all is not kept for an hour.
func TestHolderThatIsNotEligibleIsHardlyRestrained(t *testing.T) {
	policy := preempting(v1alpha1.PreemptForBetter, func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Pods.Eligible = v1alpha1.EligibleReady })
	ready := func(p *corev1.Pod, ok corev1.ConditionStatus) *corev1.Pod {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ok}}
		return p
	}
	s := situationAt(t, 400, held("new_1", 0, 395), policy, ready(podOf("new", "v1.37.0"), corev1.ConditionFalse), ready(podOf("old", "v1.36.0"), corev1.ConditionTrue))
	s.rally, s.lastMove = &rally{left: map[string]time.Time{"old": at(0)}, returns: 9, last: at(0)}, at(0)
	if p := s.plan(); p.action != ActionStepDown {
		t.Errorf("a leader that is not ready stays for %v more", p.again.Sub(s.now))
	}
	s.now = at(200)
	if p := s.plan(); p.condition.Reason != reasonRestrained || !p.again.Equal(at(0).Add(firstPause)) {
		t.Errorf("it is %s until %v", p.condition.Reason, p.again)
	}
}

// rallies has a and b make way for each other until a leads, would make way for b
// again, and was not allowed to. The objects are there from then on.
func rallies(t *testing.T, c *cluster, then ...runtime.Object) (acquired time.Time) {
	t.Helper()
	policy := preempting(v1alpha1.PreemptForBetter)
	policy.Spec.Preemption.MinTerm, policy.Spec.Preemption.Cooldown = &metav1.Duration{}, &metav1.Duration{}
	prefer := func(name, other string, more ...runtime.Object) {
		c.elections.use(append(more, policy, podOf(name, "v1.36.0"), podOf(other, "v1.37.0"))...)
	}
	holder, other := "a", "b"
	lead := func() { c.lease("lease", holder+"_1", time.Now()); c.pass(time.Second) }
	prefer(holder, other)
	lead()
	c.start()
	for range freeReturns + 1 {
		prefer(other, holder)
		c.pass(time.Second)
		if c.order() != holder+"_1" {
			t.Fatalf("%s is not told to step down: %s", holder, c.stepping())
		}
		holder, other = other, holder
		lead()
	}
	acquired = time.Now()
	prefer(other, holder, then...)
	return acquired
}
