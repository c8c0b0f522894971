package picker

import "time"

// FilterPassedOver is the name of the filter, of every policy, that removes the
// silent while others try to acquire a Lease that has been vacant for too long.
const FilterPassedOver = "PassedOver"

// minSilence is the shortest silence that counts, however short the acquire
// deadline is: whoever is trying right now must be among those that were heard,
// though a moment lies between its attempt and the decision.
const minSilence = time.Second

// passOver removes candidates that were not heard lately from the choice for a
// Lease that is overdue. It bounds how long a Lease waits for a chosen
// candidate that hangs: the acquire deadline, and half of it more if the next
// best hangs, too, although it was heard while it was not chosen.
//
// It removes nobody unless an available candidate was heard: the silence of all
// says nothing about any of them.
type passOver struct {
	active bool
	// since is the moment from which on an attempt counts.
	since  time.Time
	reason string
}

func newPassOver(policy *Policy, state *State) passOver {
	if !isOverdue(policy, state) {
		return passOver{}
	}
	// Electors retry several times within a lease duration, so that half the
	// deadline is long enough to hear all that are alive.
	window := max(policy.deadline(&state.Lease)/2, minSilence)
	p := passOver{since: state.Now.Add(-window)}
	for i := range state.Candidates {
		c := &state.Candidates[i]
		if c.Unavailable == "" && !p.isSilent(c) {
			p.active = true
			p.reason = "did not try to acquire for " + window.String() + ", while others did"
			return p
		}
	}
	return p
}

func (p *passOver) removes(c *Candidate) bool { return p.active && p.isSilent(c) }

func (p *passOver) isSilent(c *Candidate) bool { return c.LastAttempt.Before(p.since) }

// isOverdue reports whether the Lease has been contested, and left vacant, for
// the acquire deadline.
func isOverdue(policy *Policy, state *State) bool {
	since := state.Lease.ContestedSince
	return !since.IsZero() && state.Now.Sub(since) >= policy.deadline(&state.Lease)
}
