package picker

import (
	"fmt"
	"time"
)

// client-go's electors retry after one to 2.2 retry periods (JitterFactor in
// tools/leaderelection), so that whoever has retried three times has waited for
// longer than any live elector with the same retry period, and five times for
// longer than two turns of it.
const (
	// soonTries is how often another candidate has tried to acquire a Lease that
	// was released, before one that never did is passed over.
	soonTries = 4
	// soonTriesExpired is the same for a Lease whose term ran out: an elector may
	// see the last renewal one turn later than the others, and waits for the term
	// to end from then on.
	soonTriesExpired = 6
	// soonest passes in any case, unless the policy says what the deadline is: the
	// Lease's duration is what its last holder wrote.
	soonest = 5 * time.Second
)

// passOverSooner removes candidates that have not tried once in this vacancy,
// although it was not overdue yet, if another candidate that is eligible was
// turned away often enough for them to have tried as well. It returns how many
// are left.
func passOverSooner(policy *Policy, state *State, verdicts []Verdict, eligible int) int {
	since := state.Lease.ContestedSince
	wait, need := policy.sooner(&state.Lease)
	if since.IsZero() || state.Now.Sub(since) < wait {
		return eligible
	}
	tries := mostTries(verdicts)
	if tries < need {
		return eligible
	}
	reason := fmt.Sprintf("did not try to acquire in %s, while another did %d times", state.Now.Sub(since).Round(time.Second), tries)
	for i := range verdicts {
		v := &verdicts[i]
		if v.Eligible && v.Candidate.LastAttempt.Before(since) {
			v.Eligible, v.Filter, v.Reason = false, FilterPassedOver, reason
			eligible--
		}
	}
	return eligible
}

// sooner is what has to pass of a vacancy, and how often another has to have
// tried, before the silent are passed over: a third of the deadline, or two, as
// an elector may be one turn or two late.
func (p *Policy) sooner(l *Lease) (wait time.Duration, tries int) {
	wait, tries = p.deadline(l)/3, soonTries
	if l.Expired {
		wait, tries = 2*wait, soonTriesExpired
	}
	if p.AcquireDeadline <= 0 {
		wait = max(wait, soonest)
	}
	return wait, tries
}

// mostTries is how often the most persistent of the eligible has tried.
func mostTries(verdicts []Verdict) int {
	most := 0
	for i := range verdicts {
		if verdicts[i].Eligible {
			most = max(most, verdicts[i].Candidate.Tries)
		}
	}
	return most
}
