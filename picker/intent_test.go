package picker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/picker"
)

func TestIntent(t *testing.T) {
	ranked := &picker.Policy{
		AcquireDeadline: 10 * time.Second,
		Filters:         []picker.Filter{labelFilter{}}, Scores: []picker.Score{byPriority},
	}
	firstCome := &picker.Policy{AnyEligible: true, Filters: ranked.Filters}
	// "high" is who the strategy chooses.
	three := []picker.Candidate{
		{Name: "low", Priority: 1},
		{Name: "high", Priority: 3},
		{Name: "mid", Priority: 2},
		{Name: "gone", Unavailable: "Pod is terminating"},
		{Name: "unwanted", Labels: map[string]string{"no": "is not wanted"}},
	}
	// In these, the Lease is vacant for 10 s, and "low" hangs.
	silent := []picker.Candidate{{Name: "low"}, {Name: "high", Priority: 3, LastAttempt: after(10)}}
	tests := []struct {
		name       string
		policy     *picker.Policy
		candidates []picker.Candidate
		intent     picker.Intent
		chosen     string
		criterion  string
		order      []string
		// allows are the candidates that may acquire.
		allows []string
	}{
		{
			name: "a pin", intent: picker.Intent{PinnedTo: "low"},
			chosen: "low", criterion: picker.CriterionPinned,
			order: []string{"low", "high", "mid", "!gone", "!unwanted"}, allows: []string{"low"},
		},
		{
			name: "a pin on the one that is chosen anyway", intent: picker.Intent{PinnedTo: "high"},
			chosen: "high", criterion: picker.CriterionPinned,
			order: []string{"high", "mid", "low", "!gone", "!unwanted"}, allows: []string{"high"},
		},
		{
			name: "a pin on one that is not available gives way", intent: picker.Intent{PinnedTo: "gone"},
			chosen: "high", criterion: "ByPriority",
			order: []string{"high", "mid", "low", "!gone", "!unwanted"}, allows: []string{"high"},
		},
		{
			name: "a pin on one that the policy filters out gives way", intent: picker.Intent{PinnedTo: "unwanted"},
			chosen: "high", criterion: "ByPriority",
			order: []string{"high", "mid", "low", "!gone", "!unwanted"}, allows: []string{"high"},
		},
		{
			name: "a pin on nobody that is known gives way", intent: picker.Intent{PinnedTo: "stranger"},
			chosen: "high", criterion: "ByPriority",
			order: []string{"high", "mid", "low", "!gone", "!unwanted"}, allows: []string{"high"},
		},
		{
			name: "a pin on one that hangs gives way", candidates: silent, intent: picker.Intent{PinnedTo: "low"},
			chosen: "high", criterion: picker.CriterionOnlyCandidate,
			order: []string{"high", "!low"}, allows: []string{"high"},
		},
		{
			name: "a pin chooses where the strategy does not", policy: firstCome, intent: picker.Intent{PinnedTo: "mid"},
			chosen: "mid", criterion: picker.CriterionPinned,
			order: []string{"mid", "high", "low", "!gone", "!unwanted"}, allows: []string{"mid"},
		},
		{
			name: "and gives way to no choice", policy: firstCome, intent: picker.Intent{PinnedTo: "gone"},
			criterion: picker.CriterionFirstCome,
			order:     []string{"high", "low", "mid", "!gone", "!unwanted"}, allows: []string{"low", "high", "mid"},
		},
		{
			name: "a switchover", intent: picker.Intent{SwitchoverTo: "mid"},
			chosen: "mid", criterion: picker.CriterionSwitchover,
			order: []string{"mid", "high", "low", "!gone", "!unwanted"}, allows: []string{"mid"},
		},
		{
			name: "a switchover comes before a pin", intent: picker.Intent{SwitchoverTo: "mid", PinnedTo: "low"},
			chosen: "mid", criterion: picker.CriterionSwitchover,
			order: []string{"mid", "high", "low", "!gone", "!unwanted"}, allows: []string{"mid"},
		},
		{
			name: "a switchover to one that is gone leaves the pin", intent: picker.Intent{SwitchoverTo: "gone", PinnedTo: "low"},
			chosen: "low", criterion: picker.CriterionPinned,
			order: []string{"low", "high", "mid", "!gone", "!unwanted"}, allows: []string{"low"},
		},
		{
			name: "a switchover to one that hangs gives way", candidates: silent, intent: picker.Intent{SwitchoverTo: "low"},
			chosen: "high", criterion: picker.CriterionOnlyCandidate,
			order: []string{"high", "!low"}, allows: []string{"high"},
		},
		{
			name: "a pause comes before all, and lets every candidate acquire", intent: picker.Intent{Paused: true, SwitchoverTo: "mid", PinnedTo: "low"},
			criterion: picker.CriterionPaused,
			order:     []string{"high", "mid", "low", "!gone", "!unwanted"},
			allows:    []string{"low", "high", "mid", "gone", "unwanted"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.policy == nil {
				test.policy = ranked
			}
			state := &picker.State{Candidates: three, Intent: test.intent, Now: after(10)}
			if test.candidates != nil {
				state.Candidates, state.Lease.ContestedSince = test.candidates, epoch
			}
			d := picker.Decide(test.policy, state)
			if chosen(d) != test.chosen || d.Criterion != test.criterion {
				t.Errorf("chose %q by %q, want %q by %q", chosen(d), d.Criterion, test.chosen, test.criterion)
			}
			if diff := cmp.Diff(test.order, order(d)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			var allows []string
			for i := range state.Candidates {
				if name := state.Candidates[i].Name; d.Allows(name) {
					allows = append(allows, name)
				}
			}
			if diff := cmp.Diff(test.allows, allows); diff != "" {
				t.Errorf("allows (-want +got):\n%s", diff)
			}
			if d.Allows("stranger") {
				t.Error("allows a stranger")
			}
			if d.Paused != test.intent.Paused || d.AnyEligible != (d.Chosen == nil) {
				t.Errorf("paused %v, any eligible %v", d.Paused, d.AnyEligible)
			}
		})
	}
}

// As a last resort, a pin chooses among those that the filters removed.
func TestPinAsALastResort(t *testing.T) {
	d := picker.Decide(&picker.Policy{AcquireDeadline: 10 * time.Second}, &picker.State{
		Lease: picker.Lease{ContestedSince: epoch},
		Candidates: []picker.Candidate{
			{Name: "a", NotReady: "Pod is not ready", LastAttempt: after(10)},
			{Name: "b", NotReady: "Pod is not ready", LastAttempt: after(10)},
		},
		Intent: picker.Intent{PinnedTo: "b"},
		Now:    after(10),
	})
	if chosen(d) != "b" || !d.LastResort || d.Criterion != picker.CriterionPinned {
		t.Errorf("chose %q by %q, last resort: %v", chosen(d), d.Criterion, d.LastResort)
	}
}
