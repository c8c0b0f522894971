package picker_test

import (
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func TestPreempts(t *testing.T) {
	ranked := func(when v1alpha1.PreemptWhen) *picker.Policy {
		return &picker.Policy{Preempt: when, Filters: []picker.Filter{labelFilter{}}, Scores: []picker.Score{byPriority}}
	}
	better := ranked(v1alpha1.PreemptForBetter)
	all := []picker.Candidate{
		{Name: "best", Priority: 3, Created: after(0)},
		{Name: "equal", Priority: 3, Created: after(1)},
		{Name: "worse", Priority: 2},
		{Name: "ending", Priority: 1, Unavailable: "Pod is terminating"},
		{Name: "unready", Priority: 9, NotReady: "Pod is not ready"},
		{Name: "unwanted", Priority: 9, Labels: map[string]string{"no": "is not wanted"}},
	}
	tests := []struct {
		name       string
		policy     *picker.Policy
		candidates []picker.Candidate
		intent     picker.Intent
		holder     string
		want       bool
		decisive   string
	}{
		{name: "a better one", policy: better, holder: "worse", want: true, decisive: "ByPriority"},
		{name: "after a rollout", policy: ranked(v1alpha1.PreemptAfterRollout), holder: "worse", want: true, decisive: "ByPriority"},
		{name: "just an older one", policy: better, holder: "equal"},
		{name: "the chosen one", policy: better, holder: "best"},
		{name: "never", policy: ranked(v1alpha1.PreemptNever), holder: "worse", decisive: "ByPriority"},
		{name: "not said", policy: ranked(""), holder: "worse", decisive: "ByPriority"},
		{name: "one that is on its way out", policy: better, holder: "ending"},
		{name: "one that is not ready", policy: better, holder: "unready", want: true},
		{name: "one that a filter removes", policy: better, holder: "unwanted", want: true},
		{name: "nobody we know", policy: better, holder: "stranger"},
		{name: "no candidate", policy: better, holder: ""},
		{name: "nobody is chosen", policy: &picker.Policy{Preempt: v1alpha1.PreemptForBetter, AnyEligible: true}, holder: "worse"},
		{name: "nobody is there", policy: better, candidates: all[3:4], holder: "ending"},
		{name: "switched over to a worse one", policy: ranked(v1alpha1.PreemptNever), intent: picker.Intent{SwitchoverTo: "worse"}, holder: "best", want: true},
		{name: "pinned elsewhere, held by a stranger", policy: better, intent: picker.Intent{PinnedTo: "worse"}, holder: "", want: true},
		{name: "pinned to the holder", policy: better, intent: picker.Intent{PinnedTo: "worse"}, holder: "worse"},
		{name: "pinned to one that is not there", policy: ranked(v1alpha1.PreemptNever), intent: picker.Intent{PinnedTo: "ending"}, holder: "worse", decisive: "ByPriority"},
		{name: "paused", policy: better, intent: picker.Intent{Paused: true, PinnedTo: "best"}, holder: "worse"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			candidates := test.candidates
			if candidates == nil {
				candidates = all
			}
			d := picker.Decide(test.policy, &picker.State{Candidates: candidates, Intent: test.intent, Now: after(10)})
			if got := picker.Preempts(test.policy, &d, test.holder); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
			if got := d.Decisive(test.policy, test.holder); !d.ByHand() && got != test.decisive {
				t.Errorf("decisive is %q, want %q", got, test.decisive)
			}
		})
	}
}

// What is left if no candidate passes the filters is no reason to move anybody.
func TestLastResortPreemptsNobody(t *testing.T) {
	policy := &picker.Policy{Preempt: v1alpha1.PreemptForBetter, Filters: []picker.Filter{labelFilter{}}, Scores: []picker.Score{byPriority}}
	no := map[string]string{"no": "is not wanted"}
	state := &picker.State{Candidates: []picker.Candidate{{Name: "a", Priority: 1, Labels: no}, {Name: "b", Priority: 2, Labels: no}}, Now: after(60)}
	state.Lease.ContestedSince = after(0)
	d := picker.Decide(policy, state)
	if !d.LastResort || picker.Preempts(policy, &d, "a") {
		t.Errorf("last resort %t, preempts %t", d.LastResort, picker.Preempts(policy, &d, "a"))
	}
}
