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

	// last held the Lease last, and led until alive. awaited says that somebody
	// was to lead before the first term began.
	last    string
	alive   time.Time
	awaited bool
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
	if gap := at.Sub(t.alive); gap > 0 && (t.Total > 0 || t.awaited) {
		t.vacate(gap)
	}
}

func (t *Totals) vacate(length time.Duration) {
	t.Vacancies++
	t.Vacant += length
	t.Longest = max(t.Longest, length)
}
