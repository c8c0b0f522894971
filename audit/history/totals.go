package history

import "time"

// Totals are what a sequence of terms comes down to, whether it happened or
// would have.
type Totals struct {
	// Total counts the terms, Changes the acquires by another identity than the
	// last holder's.
	Total, Changes int
	// Vacant adds up how long nobody is known to have led: from the end of a
	// term, or the last renewal of one that expired, to the next acquire.
	// Longest is the longest of these spans, Vacancies counts them.
	Vacant, Longest time.Duration
	Vacancies       int
	// Unknown adds up the times that would count as vacant, had there not been
	// writes meanwhile of which the holder is not known.
	Unknown time.Duration

	// last held the Lease last, and led until alive. awaited says that somebody
	// was to lead before the first term began.
	last    string
	alive   time.Time
	awaited bool
	// blind is the last write of which the holder is not known, firstBlind the
	// first one before any term.
	blind, firstBlind time.Time
}

// Blind takes up a write of which the holder is not known.
func (t *Totals) Blind(at time.Time) {
	t.blind = at
	if t.Total == 0 && t.firstBlind.IsZero() {
		t.firstBlind = at
	}
}

// Acquired takes up that a term began.
func (t *Totals) Acquired(who string, at time.Time) {
	if t.Total > 0 && t.last != who {
		t.Changes++
	}
	t.Finish(at)
	t.Total++
	t.last = who
}

// Ended takes up that a term ended whose holder led until alive.
func (t *Totals) Ended(alive time.Time) { t.alive = alive }

// Await takes up that somebody was to lead from at on, if nobody ever did.
func (t *Totals) Await(at time.Time) {
	if t.Total == 0 && !t.awaited {
		t.alive, t.awaited = at, true
	}
}

// Finish takes up that nobody led from the end of the last term until at.
func (t *Totals) Finish(at time.Time) {
	switch {
	case t.Total > 0 || t.awaited:
		t.gap(t.alive, at)
	case !t.firstBlind.IsZero():
		t.Unknown += max(0, at.Sub(t.firstBlind)) // the first term may have begun before the log
	}
}

// gap takes up that nobody is known to have led meanwhile, and reports whether
// it is known that nobody did.
func (t *Totals) gap(from, to time.Time) bool {
	length := to.Sub(from)
	switch {
	case length <= 0:
	case t.blind.After(from):
		t.Unknown += length
		return false
	default:
		t.vacate(length)
	}
	return true
}

func (t *Totals) vacate(length time.Duration) {
	t.Vacancies++
	t.Vacant += length
	t.Longest = max(t.Longest, length)
}
