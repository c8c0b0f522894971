package history

import (
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// Term is the time between an acquire and its end.
type Term struct {
	// Identity is the holder identity.
	Identity string
	// Start is when it acquired the Lease. If it did so before the first write
	// that is known (Earlier), it is when it says that it did, or else that
	// write.
	Start   time.Time
	Earlier bool
	// Renewed is the last write of the holder, the acquire included. Renewals
	// counts the others.
	Renewed  time.Time
	Renewals int64
	// Duration is how long the term lasts without a renewal. 0: it does not run
	// out.
	Duration time.Duration
	// End is when it ended, for the reason Reason (v1alpha1.TermReleased and so
	// on). Zero: it had not when the log ended.
	End    time.Time
	Reason string
	// Lapses are the first MaxLapses times in which it was not renewed for
	// longer than Duration, and went on all the same.
	Lapses []Span
	// first is the first write that is known of it.
	first time.Time
	// blind is the last write in it or after it of which the holder is not known.
	// notKnown counts the times without renewals but with such writes, that took
	// notKnownFor.
	blind       time.Time
	notKnown    int64
	notKnownFor time.Duration
}

// Unknown reports whether somebody may have led between its end and the next
// term: there were writes of which the holder is not known.
func (t *Term) Unknown() bool { return t.blind.After(t.Alive()) }

// deadline is when the term runs out unless it is renewed. Zero: never.
func (t *Term) deadline() time.Time {
	if t.Duration <= 0 {
		return time.Time{}
	}
	return t.Renewed.Add(t.Duration)
}

// Alive is until when its holder is known to have led: to its end, but if it
// expired or goes on, to its last renewal.
func (t *Term) Alive() time.Time {
	if t.Reason == "" || t.Reason == v1alpha1.TermExpired {
		return t.Renewed
	}
	return t.End
}

// Every is how long the holder waited between two renewals, on average. 0: not
// known.
func (t *Term) Every() time.Duration {
	regular := t.Renewals - int64(len(t.Lapses)) - t.notKnown
	if regular <= 0 {
		return 0
	}
	since := t.Renewed.Sub(t.first) - t.notKnownFor
	for _, l := range t.Lapses {
		since -= l.Length()
	}
	return since / time.Duration(regular)
}

// Span is a stretch of time.
type Span struct{ From, To time.Time }

// Length is how long it is.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }
