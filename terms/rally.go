package terms

import (
	"maps"
	"time"
)

const (
	// freeReturns is how often within rallyWindow a Lease may go back to one that
	// had to make way, before the next return has to wait.
	freeReturns = 3
	// rallyWindow is how long it is remembered who had to make way. It is longer
	// than any pause, or a pause would end itself.
	rallyWindow = 2 * lastPause
)

// rally remembers who had to make way by the policy, and bounds how often a Lease
// goes back to them: a policy that contradicts itself, such as one whose score
// falls with the time that a candidate leads, would else have two of them make way
// for each other for ever. To make way for somebody new never waits. It is in
// memory: a replica that comes to write begins anew. The zero value remembers
// nothing.
type rally struct {
	// from is the holder identity, holder the candidate, that has to make way.
	// Empty: nobody has.
	from, holder string
	// left is when each candidate last made way.
	left    map[string]time.Time
	returns int
	last    time.Time
}

// begin notes that the holder has to make way by the policy.
func (r *rally) begin(from, holder string) { r.from, r.holder = from, holder }

// end notes that it has not any more.
func (r *rally) end() { r.from, r.holder = "", "" }

// look takes up who holds the Lease now: the identity, "" for nobody, and the
// candidate, "" if it is none.
func (r *rally) look(identity, holder string, now time.Time) {
	if r.from == "" || identity == "" || identity == r.from {
		return
	}
	maps.DeleteFunc(r.left, func(_ string, at time.Time) bool { return now.Sub(at) > rallyWindow })
	if now.Sub(r.last) > rallyWindow {
		r.returns = 0
	}
	if _, returns := r.left[holder]; returns && holder != r.holder {
		r.returns, r.last = r.returns+1, now
	}
	if r.left == nil {
		r.left = map[string]time.Time{}
	}
	r.left[r.holder] = now
	r.end()
}

// pause is how long after the last preemption the Lease may not go back to the
// candidate. 0: it may, or would not be going back.
func (r *rally) pause(replacement string, now time.Time) time.Duration {
	left, returns := r.left[replacement]
	if !returns || r.returns < freeReturns || now.Sub(left) > rallyWindow {
		return 0
	}
	return pauseAfter(r.returns - freeReturns + 1)
}
