package plugins

import (
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func prior(c picker.Candidate, priority int32) picker.Candidate {
	c.Priority = priority
	return c
}

// KEP-4355, candidate priority: values above 0 take precedence over the base
// strategy, which breaks ties and rules while there are none.
func TestKEP4355Priority(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Priority})
	a, b, c := versioned("a", "1.37.0", ""), versioned("b", "1.36.0", ""), versioned("c", "1.37.1", "")
	runSteps(t, policy, []step{
		{"none is set", []picker.Candidate{a, b, c}, "b", OldestEmulationVersionName},
		{"one is set", []picker.Candidate{a, b, prior(c, 1)}, "c", PriorityName},
		{"the highest wins", []picker.Candidate{prior(a, 2), b, prior(c, 1)}, "a", PriorityName},
		{"a tie", []picker.Candidate{prior(a, 2), b, prior(c, 2)}, "a", OldestEmulationVersionName},
		{"0 and below are none", []picker.Candidate{prior(a, 0), prior(b, -7), prior(c, -1)}, "b", OldestEmulationVersionName},
		{"it is taken back", []picker.Candidate{a, b, c}, "b", OldestEmulationVersionName},
	})
}

// A move by hand that ends by itself: b is drained for an hour, so c leads.
func TestPriorityExpires(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Priority})
	until := noon.Add(time.Hour)
	c := prior(versioned("c", "1.37.0", ""), 1)
	c.PriorityUntil = until
	s := stateOf(versioned("b", "1.36.0", ""), c)
	for _, test := range []struct {
		now       time.Time
		chosen    string
		criterion string
	}{
		{noon, "c", PriorityName},
		{until.Add(-1), "c", PriorityName},
		{until, "b", OldestEmulationVersionName},
		{until.Add(time.Hour), "b", OldestEmulationVersionName},
	} {
		s.Now = test.now
		checkDecision(t, policy, s, test.chosen, test.criterion)
	}
}

func TestPriorityWithAnotherBase(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Priority, Base: v1alpha1.Sticky})
	s := stateOf(picker.Candidate{Name: "a"}, picker.Candidate{Name: "b"})
	s.Lease.Holder = "b"
	checkDecision(t, policy, s, "b", StickyName)
	s.Candidates[0].Priority = 1
	checkDecision(t, policy, s, "a", PriorityName)
}
