package picker_test

import (
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/picker"
)

// The acquire deadline is 9 s, and the Lease has been contested since 0 s.
func TestDecidePassesOverSooner(t *testing.T) {
	silent := picker.Candidate{Name: "silent", Priority: 9, LastAttempt: after(-1)}
	tried := func(times int) picker.Candidate {
		return picker.Candidate{Name: "live", LastAttempt: after(3), Tries: times}
	}
	with := func(c picker.Candidate, change func(*picker.Candidate)) picker.Candidate { change(&c); return c }
	tests := []struct {
		name       string
		now        float64
		expired    bool
		candidates []picker.Candidate
		chosen     string
	}{
		{name: "others have not tried often enough", now: 5, candidates: []picker.Candidate{silent, tried(3)}, chosen: "silent"},
		{name: "another tried four times", now: 5, candidates: []picker.Candidate{silent, tried(4)}, chosen: "live"},
		{name: "after an expired term, electors do not begin together", now: 7, expired: true, candidates: []picker.Candidate{silent, tried(5)}, chosen: "silent"},
		{name: "and six tries are enough", now: 7, expired: true, candidates: []picker.Candidate{silent, tried(6)}, chosen: "live"},
		{name: "a storm of tries proves nothing", now: 2.9, candidates: []picker.Candidate{silent, tried(99)}, chosen: "silent"},
		{name: "nor does it after an expired term", now: 5.9, expired: true, candidates: []picker.Candidate{silent, tried(99)}, chosen: "silent"},
		{name: "one that tried once in this vacancy is not silent", now: 5, candidates: []picker.Candidate{
			with(silent, func(c *picker.Candidate) { c.LastAttempt, c.Tries = after(0), 1 }), tried(4),
		}, chosen: "silent"},
		{name: "nobody is passed over for one that is not eligible", now: 5, candidates: []picker.Candidate{
			silent, with(tried(9), func(c *picker.Candidate) { c.Labels = map[string]string{"no": "is not wanted"} }),
		}, chosen: "silent"},
		{name: "the one that tried is not always the next best", now: 5, candidates: []picker.Candidate{
			silent, tried(4), {Name: "better", Priority: 5, LastAttempt: after(1), Tries: 1},
		}, chosen: "better"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy := &picker.Policy{
				AcquireDeadline: 9 * time.Second,
				Filters:         []picker.Filter{labelFilter{}},
				Scores:          []picker.Score{byPriority},
			}
			state := &picker.State{Now: after(tt.now), Candidates: tt.candidates}
			state.Lease.ContestedSince, state.Lease.Expired = after(0), tt.expired
			d := picker.Decide(policy, state)
			if chosen(d) != tt.chosen {
				t.Fatalf("chose %q, want %s", chosen(d), tt.chosen)
			}
			if v := d.Verdict("silent"); tt.chosen != "silent" && (v.Filter != picker.FilterPassedOver || v.Reason == "") {
				t.Errorf("silent was removed by %q: %q", v.Filter, v.Reason)
			}
		})
	}
}

// What the last holder wrote may be anything.
func TestDecideBoundsWhatALeaseSays(t *testing.T) {
	at := func(now float64, duration time.Duration, tries int) string {
		return chosen(picker.Decide(&picker.Policy{}, &picker.State{
			Lease:      picker.Lease{ContestedSince: epoch, Duration: duration},
			Candidates: []picker.Candidate{{Name: "a"}, {Name: "b", LastAttempt: after(now), Tries: tries}},
			Now:        after(now),
		}))
	}
	if got := at(4.9, 6*time.Second, 99); got != "a" {
		t.Errorf("with a short duration: chose %q, want a", got)
	}
	if got := at(5, 6*time.Second, 99); got != "b" {
		t.Errorf("with a short duration, later: chose %q, want b", got)
	}
	if got := at(5*60, 1000*time.Hour, 1); got != "b" {
		t.Errorf("with an endless one: chose %q, want b", got)
	}
}
