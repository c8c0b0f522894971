package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/candidates"
)

// Contender is what a scenario is played under: a policy, or none.
type Contender struct {
	// Name is what reports call it.
	Name string
	// Objects makes a new set with the policy, which must be enforced. Nil: no
	// policy.
	Objects func() *candidates.ObjectSet
}

// Result is what many runs of a scenario under one contender come down to. Times
// are in seconds.
type Result struct {
	Contender string `json:"contender"`
	Runs      int    `json:"runs"`
	// Changes of the leader in a run: on average, and at most.
	Changes    float64 `json:"changes"`
	MaxChanges int     `json:"maxChanges"`
	// Vacant is how long nobody led in a run, on average and at most. Longest is
	// the longest time without a break in any run.
	Vacant    float64 `json:"secondsWithoutLeader"`
	MaxVacant float64 `json:"maxSecondsWithoutLeader"`
	Longest   float64 `json:"longestSecondsWithoutLeader"`
	// SkewedRuns counts the runs in which a leader was newer than an API server
	// that ran, Skewed is for how long on average. Nil: no API servers are given.
	SkewedRuns *int     `json:"skewedRuns"`
	Skewed     *float64 `json:"secondsSkewed"`
	// Refused counts the attempts that were refused, on average.
	Refused float64 `json:"refused"`
	// Both is how long two replicas led at once, in all runs together. It must
	// be 0.
	Both float64 `json:"secondsOfTwoLeaders"`
	// Sample are the terms of the first run.
	Sample []Term `json:"sample"`
}

// Run plays a scenario with the seeds from 1 to runs, until ctx ends. done is
// told after each run; it may be nil.
func Run(ctx context.Context, s *Scenario, c Contender, runs int, done func()) (*Result, error) {
	result := &Result{Contender: c.Name, Runs: runs}
	total := &sum{}
	for seed := range runs {
		var objects *candidates.Replay
		if c.Objects != nil {
			objects = candidates.NewReplay(c.Objects())
			if objects.Governing(s.Key()).Policy == nil {
				return nil, fmt.Errorf("%s: no policy governs Lease %s", c.Name, s.Lease)
			}
		}
		r := newRun(s, uint64(seed)+1, objects)
		if err := r.play(ctx); err != nil {
			return nil, err
		}
		total.add(&r.measured)
		if seed == 0 {
			result.Sample = r.measured.Terms
		}
		if done != nil {
			done()
		}
	}
	total.tell(result, len(s.APIServers) > 0)
	return result, nil
}

// sum adds up runs.
type sum struct {
	changes, maxChanges, refused, skewedRuns int
	vacant, maxVacant, longest, skewed, both time.Duration
}

func (t *sum) add(m *measure) {
	t.changes += m.Changes
	t.maxChanges = max(t.maxChanges, m.Changes)
	t.refused += m.Refused
	t.vacant += m.Vacant
	t.maxVacant = max(t.maxVacant, m.Vacant)
	t.longest = max(t.longest, m.Longest)
	t.both += m.Both
	t.skewed += m.Skewed
	if m.Skewed > 0 {
		t.skewedRuns++
	}
}

func (t *sum) tell(r *Result, skew bool) {
	n := float64(r.Runs)
	r.Changes, r.MaxChanges = float64(t.changes)/n, t.maxChanges
	r.Vacant, r.MaxVacant, r.Longest = t.vacant.Seconds()/n, t.maxVacant.Seconds(), t.longest.Seconds()
	r.Refused, r.Both = float64(t.refused)/n, t.both.Seconds()
	if skew {
		skewed := t.skewed.Seconds() / n
		r.SkewedRuns, r.Skewed = &t.skewedRuns, &skewed
	}
}
