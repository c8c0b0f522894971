package picker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/picker"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// after is a moment of the tests, so many seconds after their begin.
func after(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// labelFilter removes the candidates whose label "no" is set, with its value as
// the reason. valueScore gives them the Value that a function says.
type labelFilter struct{}

func (labelFilter) Name() string { return "Label" }
func (labelFilter) Filter(_ *picker.State, c *picker.Candidate) string {
	return c.Labels["no"]
}

type valueScore struct {
	name  string
	value func(*picker.Candidate) picker.Value
}

func (s valueScore) Name() string { return s.name }
func (s valueScore) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	return s.value(c)
}

var byPriority = valueScore{"ByPriority", func(c *picker.Candidate) picker.Value {
	return picker.Integer(int64(c.Priority))
}}

func TestDecide(t *testing.T) {
	no := map[string]string{"no": "is not wanted"}
	filtered := &picker.Policy{Filters: []picker.Filter{labelFilter{}}, Scores: []picker.Score{byPriority}}
	tests := []struct {
		name       string
		policy     *picker.Policy
		candidates []picker.Candidate
		chosen     string
		criterion  string
		// order is the order of the verdicts, "!" before who is not eligible.
		order []string
	}{
		{name: "nobody", policy: filtered},
		{
			name:       "one candidate",
			policy:     filtered,
			candidates: []picker.Candidate{{Name: "a"}},
			chosen:     "a", criterion: picker.CriterionOnlyCandidate, order: []string{"a"},
		},
		{
			name:       "the higher score wins",
			policy:     filtered,
			candidates: []picker.Candidate{{Name: "a", Priority: 1}, {Name: "b", Priority: 2}},
			chosen:     "b", criterion: "ByPriority", order: []string{"b", "a"},
		},
		{
			name:       "the older candidate breaks a tie",
			policy:     filtered,
			candidates: []picker.Candidate{{Name: "a", Created: after(1)}, {Name: "b", Created: after(0.5)}},
			chosen:     "b", criterion: picker.CriterionOldest, order: []string{"b", "a"},
		},
		{
			name:       "the name breaks what then is left",
			policy:     filtered,
			candidates: []picker.Candidate{{Name: "b", Created: after(1)}, {Name: "a", Created: after(1)}},
			chosen:     "a", criterion: picker.CriterionOldest, order: []string{"a", "b"},
		},
		{
			name:   "filters and unavailability remove candidates, in order of their names",
			policy: filtered,
			candidates: []picker.Candidate{
				{Name: "d", Priority: 9, Unavailable: "Pod is terminating"},
				{Name: "c", Priority: 9, Labels: no},
				{Name: "a"},
			},
			chosen: "a", criterion: picker.CriterionOnlyCandidate, order: []string{"a", "!c", "!d"},
		},
		{
			name:       "nobody is eligible",
			policy:     filtered,
			candidates: []picker.Candidate{{Name: "a", Labels: no}},
			order:      []string{"!a"},
		},
		{
			name:       "the policy chooses nobody",
			policy:     &picker.Policy{AnyEligible: true, Filters: []picker.Filter{labelFilter{}}},
			candidates: []picker.Candidate{{Name: "b"}, {Name: "a"}, {Name: "c", Labels: no}},
			criterion:  picker.CriterionFirstCome, order: []string{"a", "b", "!c"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := picker.Decide(test.policy, &picker.State{Candidates: test.candidates, Now: after(0)})
			if got := chosen(d); got != test.chosen {
				t.Errorf("chose %q, want %q", got, test.chosen)
			}
			if d.Criterion != test.criterion {
				t.Errorf("criterion %q, want %q", d.Criterion, test.criterion)
			}
			if diff := cmp.Diff(test.order, order(d)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			for _, c := range test.candidates {
				want := d.Chosen == d.Verdict(c.Name).Candidate || test.policy.AnyEligible && d.Verdict(c.Name).Eligible
				if got := d.Allows(c.Name); got != want {
					t.Errorf("allows %s: %v, want %v", c.Name, got, want)
				}
			}
			if d.Allows("stranger") {
				t.Error("allows a stranger")
			}
		})
	}
}

func chosen(d picker.Decision) string {
	if d.Chosen == nil {
		return ""
	}
	return d.Chosen.Name
}

func order(d picker.Decision) (names []string) {
	for _, v := range d.Verdicts {
		mark := "!"
		if v.Eligible {
			mark = ""
		}
		names = append(names, mark+v.Candidate.Name)
	}
	return names
}

// The acquire deadline is 10 s and the Lease has been contested since 0 s.
func TestDecideVacancy(t *testing.T) {
	no := map[string]string{"no": "is not wanted"}
	tests := []struct {
		name       string
		now        float64
		candidates []picker.Candidate
		chosen     string
		lastResort bool
		filters    map[string]string
	}{
		{
			name: "the deadline has not passed",
			now:  9.9,
			candidates: []picker.Candidate{
				{Name: "hung", Priority: 9},
				{Name: "live", LastAttempt: after(9.9)},
			},
			chosen: "hung",
		},
		{
			name: "a chosen candidate that never tried is passed over",
			now:  10,
			candidates: []picker.Candidate{
				{Name: "hung", Priority: 9},
				{Name: "live", LastAttempt: after(10)},
			},
			chosen:  "live",
			filters: map[string]string{"hung": picker.FilterPassedOver},
		},
		{
			name: "one that tried lately is not",
			now:  12,
			candidates: []picker.Candidate{
				{Name: "hung", Priority: 9},
				{Name: "better", Priority: 5, LastAttempt: after(8)},
				{Name: "live", LastAttempt: after(12)},
			},
			chosen:  "better",
			filters: map[string]string{"hung": picker.FilterPassedOver},
		},
		{
			name: "one that tried in this vacancy, and hangs since, is passed over in its turn",
			now:  15,
			candidates: []picker.Candidate{
				{Name: "hung", Priority: 9},
				{Name: "hung-later", Priority: 5, LastAttempt: after(9.9)},
				{Name: "live", LastAttempt: after(15)},
			},
			chosen:  "live",
			filters: map[string]string{"hung": picker.FilterPassedOver, "hung-later": picker.FilterPassedOver},
		},
		{
			name:       "nobody is passed over if nobody tries",
			now:        60,
			candidates: []picker.Candidate{{Name: "a", Priority: 9}, {Name: "b", LastAttempt: after(1)}},
			chosen:     "a",
		},
		{
			name: "nobody is passed over for one that is not available",
			now:  60,
			candidates: []picker.Candidate{
				{Name: "a", Priority: 9},
				{Name: "ending", Unavailable: "Pod is terminating", LastAttempt: after(60)},
			},
			chosen:  "a",
			filters: map[string]string{"ending": picker.FilterAvailable},
		},
		{
			name:       "filters hold until the deadline",
			now:        9.9,
			candidates: []picker.Candidate{{Name: "live", Labels: no, LastAttempt: after(9.9)}},
			filters:    map[string]string{"live": "Label"},
		},
		{
			name: "after it, those are ranked that the policy's filters removed",
			now:  10,
			candidates: []picker.Candidate{
				{Name: "silent", Priority: 9, Labels: no},
				{Name: "ending", Priority: 9, Unavailable: "Pod is terminating", LastAttempt: after(10)},
				{Name: "worse", Priority: 1, Labels: no, LastAttempt: after(10)},
				{Name: "better", Priority: 2, Labels: no, LastAttempt: after(9)},
			},
			chosen: "better", lastResort: true,
			filters: map[string]string{
				"silent": picker.FilterPassedOver, "ending": picker.FilterAvailable,
				"worse": "Label", "better": "Label",
			},
		},
		{
			name: "a silent candidate that passes the filters does not hold up one that does not",
			now:  10,
			candidates: []picker.Candidate{
				{Name: "silent"},
				{Name: "live", Labels: no, LastAttempt: after(10)},
			},
			chosen: "live", lastResort: true,
			filters: map[string]string{"silent": picker.FilterPassedOver, "live": "Label"},
		},
		{
			name: "one that is not ready does not lead before the deadline",
			now:  9.9,
			candidates: []picker.Candidate{
				{Name: "starting", Priority: 9, NotReady: "Pod is not Ready", LastAttempt: after(9.9)},
				{Name: "ready"},
			},
			chosen:  "ready",
			filters: map[string]string{"starting": picker.FilterReady},
		},
		{
			name:       "nobody is ready before it leads",
			now:        10,
			candidates: []picker.Candidate{{Name: "a", NotReady: "Pod is not Ready", LastAttempt: after(10)}},
			chosen:     "a", lastResort: true,
			filters: map[string]string{"a": picker.FilterReady},
		},
		{
			name:       "nobody is available",
			now:        60,
			candidates: []picker.Candidate{{Name: "a", Unavailable: "Pod is terminating", LastAttempt: after(60)}},
			filters:    map[string]string{"a": picker.FilterAvailable},
		},
	}
	policy := &picker.Policy{
		AcquireDeadline: 10 * time.Second,
		Filters:         []picker.Filter{labelFilter{}},
		Scores:          []picker.Score{byPriority},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := picker.Decide(policy, &picker.State{
				Lease:      picker.Lease{ContestedSince: epoch},
				Candidates: test.candidates,
				Now:        after(test.now),
			})
			if chosen(d) != test.chosen || d.LastResort != test.lastResort {
				t.Errorf("chose %q (last resort: %v), want %q (%v)", chosen(d), d.LastResort, test.chosen, test.lastResort)
			}
			filters := map[string]string{}
			for _, v := range d.Verdicts {
				if v.Filter != "" {
					filters[v.Candidate.Name] = v.Filter
				}
			}
			if test.filters == nil {
				test.filters = map[string]string{}
			}
			if diff := cmp.Diff(test.filters, filters); diff != "" {
				t.Errorf("filters (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecideDeadline(t *testing.T) {
	for _, test := range []struct {
		name            string
		policy, lease   time.Duration
		passedOverAfter time.Duration
	}{
		{"the policy's", 3 * time.Second, time.Minute, 3 * time.Second},
		{"else the Lease's duration", 0, time.Minute, time.Minute},
		{"else the default", 0, 0, picker.DefaultAcquireDeadline},
		{"a negative one is none", -time.Second, -time.Second, picker.DefaultAcquireDeadline},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := func(elapsed time.Duration) string {
				now := epoch.Add(elapsed)
				return chosen(picker.Decide(&picker.Policy{AcquireDeadline: test.policy}, &picker.State{
					Lease:      picker.Lease{ContestedSince: epoch, Duration: test.lease},
					Candidates: []picker.Candidate{{Name: "a"}, {Name: "b", LastAttempt: now}},
					Now:        now,
				}))
			}
			if got := at(test.passedOverAfter - 1); got != "a" {
				t.Errorf("just before: chose %q, want a", got)
			}
			if got := at(test.passedOverAfter); got != "b" {
				t.Errorf("then: chose %q, want b", got)
			}
		})
	}
}

// However short the deadline, the attempt that is being ruled on was heard.
func TestDecideHearsThePresentAttempt(t *testing.T) {
	d := picker.Decide(&picker.Policy{AcquireDeadline: time.Nanosecond}, &picker.State{
		Lease:      picker.Lease{ContestedSince: epoch},
		Candidates: []picker.Candidate{{Name: "a"}, {Name: "b", LastAttempt: after(2)}},
		Now:        after(2.9),
	})
	if chosen(d) != "b" {
		t.Errorf("chose %q, want b", chosen(d))
	}
}

// A live candidate that keeps trying leads at last, whatever else is the case:
// promise 2.
func TestDecideBoundsVacancy(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	policy := &picker.Policy{
		AcquireDeadline: 10 * time.Second,
		Filters:         []picker.Filter{labelFilter{}},
		Scores:          []picker.Score{byPriority},
	}
	for range 2000 {
		state := randomState(random, 6)
		state.Lease.ContestedSince = epoch
		// The others hang from some moment in the first 10 s on.
		for i := range state.Candidates {
			state.Candidates[i].LastAttempt = time.Time{}
			if random.IntN(2) == 0 {
				state.Candidates[i].LastAttempt = after(random.Float64() * 10)
			}
		}
		live := &state.Candidates[random.IntN(len(state.Candidates))]
		live.Unavailable = ""
		live.LastAttempt, state.Now = after(15), after(15)
		state.Intent = randomIntent(random, state.Candidates)
		if d := picker.Decide(policy, state); !d.Allows(live.Name) {
			t.Fatalf("the only live candidate %s may not lead 15 s on: %v", live.Name, order(d))
		}
	}
}

func randomIntent(r *rand.Rand, among []picker.Candidate) picker.Intent {
	name := func() string {
		if r.IntN(2) == 0 {
			return ""
		}
		return among[r.IntN(len(among))].Name
	}
	return picker.Intent{Paused: r.IntN(4) == 0, SwitchoverTo: name(), PinnedTo: name()}
}

func randomState(r *rand.Rand, n int) *picker.State {
	s := &picker.State{Now: after(0), Candidates: make([]picker.Candidate, n)}
	for i := range s.Candidates {
		c := &s.Candidates[i]
		c.Name = fmt.Sprint("c", i)
		c.Created = after(float64(r.IntN(3)) / 2)
		c.Priority = int32(r.IntN(3))
		c.BinaryVersion = picker.ParseVersion(randomVersion(r))
		c.EmulationVersion = picker.ParseVersion(randomVersion(r))
		if r.IntN(4) == 0 {
			c.Unavailable = "Pod is terminating"
		}
		if r.IntN(4) == 0 {
			c.Labels = map[string]string{"no": "is not wanted"}
		}
	}
	return s
}

// The order of the candidates does not matter, and is that of comparing them
// one by one.
func TestDecideIsDeterministic(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	values := map[string][2]picker.Value{}
	score := func(i int) valueScore {
		return valueScore{fmt.Sprint("Score", i), func(c *picker.Candidate) picker.Value { return values[c.Name][i] }}
	}
	policy := &picker.Policy{Filters: []picker.Filter{labelFilter{}}, Scores: []picker.Score{score(0), score(1)}}
	for range 300 {
		state := randomState(random, 1+random.IntN(40))
		for _, c := range state.Candidates {
			values[c.Name] = [2]picker.Value{randomValue(random), randomValue(random)}
		}
		first := picker.Decide(policy, state)
		want := order(first)
		checkSorted(t, first)
		random.Shuffle(len(state.Candidates), func(i, j int) {
			state.Candidates[i], state.Candidates[j] = state.Candidates[j], state.Candidates[i]
		})
		if diff := cmp.Diff(want, order(picker.Decide(policy, state))); diff != "" {
			t.Fatalf("shuffled (-before +after):\n%s", diff)
		}
	}
}

func checkSorted(t *testing.T, d picker.Decision) {
	t.Helper()
	if !slices.IsSortedFunc(d.Verdicts, func(a, b picker.Verdict) int {
		switch {
		case a.Eligible != b.Eligible && a.Eligible:
			return -1
		case a.Eligible != b.Eligible:
			return 1
		}
		for i := range a.Scores {
			if n := a.Scores[i].Compare(b.Scores[i]); n != 0 {
				return -n
			}
		}
		if a.Eligible {
			return a.Candidate.Compare(b.Candidate)
		}
		return compareStrings(a.Candidate.Name, b.Candidate.Name)
	}) {
		t.Fatalf("not in order: %v", order(d))
	}
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
