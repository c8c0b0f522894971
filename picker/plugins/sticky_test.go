package plugins

import (
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func TestSticky(t *testing.T) {
	for _, test := range []struct {
		name   string
		lease  picker.Lease
		chosen string
		by     string
	}{
		{"the holder", picker.Lease{Holder: "b", LastHolder: "a"}, "b", StickyName},
		{"the last holder of a vacant Lease", picker.Lease{LastHolder: "b"}, "b", StickyName},
		{"a Lease that nobody held", picker.Lease{}, "a", picker.CriterionOldest},
		{"a holder that is no candidate", picker.Lease{Holder: "stranger", LastHolder: "b"}, "a", picker.CriterionOldest},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := stateOf(picker.Candidate{Name: "a", Created: noon}, picker.Candidate{Name: "b", Created: noon})
			s.Lease = test.lease
			checkDecision(t, mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Sticky}), s, test.chosen, test.by)
		})
	}
}

// A Pod of a StatefulSet comes back under its name, and is the youngest then.
func TestStickyOverARestart(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Sticky})
	s := stateOf(picker.Candidate{Name: "web-0", Created: noon}, picker.Candidate{Name: "web-1", Created: noon.Add(1)})
	s.Lease.LastHolder = "web-1"
	s.Candidates[1].Unavailable = "Pod is not running"
	checkDecision(t, policy, s, "web-0", picker.CriterionOnlyCandidate)
	s.Candidates[1].Unavailable = ""
	checkDecision(t, policy, s, "web-1", StickyName)
}
