package history

import (
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// MaxTerms bounds the terms that are kept of one Lease. Totals go on.
const MaxTerms = 10_000

// MaxLapses bounds the lapses that are kept of one term.
const MaxLapses = 100

// expirySlack is how long before the end of a term, as we count it, a takeover
// still counts as its expiry: electors see the last renewal later than the API
// server writes it down, or read its time by clocks of their own.
const expirySlack = time.Second

// Change is what a write was for the terms of a Lease.
type Change string

const (
	// Renewed kept the holder, or vacancy.
	Renewed Change = "Renewed"
	// Acquired gave the Lease another holder.
	Acquired Change = "Acquired"
	// Released took the holder away.
	Released Change = "Released"
)

// Write is what a successful write says of the term.
type Write struct {
	Time time.Time
	// Holder is the holder identity, "" for nobody.
	Holder   string
	Duration time.Duration
	// Acquire is the acquireTime of the Lease, RenewTime its renewTime, by the
	// holder's clock. They are the same when it was just acquired.
	Acquire, Renew time.Time
	// Create says that the Lease did not exist before.
	Create bool
}

// History has the terms of one Lease. The zero History knows of no write. It is
// not safe for concurrent use.
type History struct {
	Totals
	// Terms are the first MaxTerms terms, the oldest first.
	Terms []Term

	current Term
	held    bool
	ended   Term
}

// Current is the term that has not ended, or nil.
func (h *History) Current() *Term {
	if !h.held {
		return nil
	}
	return &h.current
}

// Last is the last term that has ended, or nil.
func (h *History) Last() *Term {
	if h.ended.Reason == "" {
		return nil
	}
	return &h.ended
}

// Holder is the identity of who holds the Lease, "" for nobody.
func (h *History) Holder() string {
	if !h.held {
		return ""
	}
	return h.current.Identity
}

// Renew takes up that the Lease was written and nothing but its times changed. If
// nobody holds it, it stays vacant.
func (h *History) Renew(at time.Time) {
	if !h.held {
		return
	}
	t := &h.current
	if d := t.deadline(); !d.IsZero() && at.After(d.Add(expirySlack)) {
		h.lapse(Span{t.Renewed, at})
	}
	t.Renewals++
	t.Renewed = at
}

func (h *History) lapse(gap Span) {
	t := &h.current
	switch known := h.gap(gap.From, gap.To); {
	case !known:
		t.notKnown++
		t.notKnownFor += gap.Length()
	case len(t.Lapses) < MaxLapses:
		t.Lapses = append(t.Lapses, gap)
	}
}

// Blind takes up a write that succeeded, of which the holder is not known.
func (h *History) Blind(at time.Time) {
	h.Totals.Blind(at)
	switch n := len(h.Terms); {
	case h.held:
		h.current.blind = at
	case n > 0 && n == h.Total:
		h.Terms[n-1].blind = at
	}
}

// Write takes up a write that succeeded.
func (h *History) Write(w Write) Change {
	switch {
	case h.held && w.Holder == h.current.Identity && !w.Create:
		h.Renew(w.Time)
		h.current.Duration = w.Duration
		return Renewed
	case w.Holder == "" && !h.held:
		return Renewed
	case w.Holder == "":
		h.end(w.Time, v1alpha1.TermReleased)
		return Released
	}
	h.acquire(w)
	return Acquired
}

func (h *History) acquire(w Write) {
	if h.held {
		h.cutShort(w)
	}
	h.current = Term{Identity: w.Holder, Start: w.Time, Renewed: w.Time, Duration: w.Duration, first: w.Time}
	if h.Total == 0 && !w.Create && !w.Acquire.Equal(w.Renew) {
		h.current.Earlier = true
		if !w.Acquire.IsZero() && w.Acquire.Before(w.Time) {
			h.current.Start = w.Acquire
		}
	}
	h.held = true
	h.Acquired(w.Holder, w.Time)
}

// cutShort ends a term that another holder, or the same one on a Lease made
// anew, took over.
func (h *History) cutShort(w Write) {
	switch d := h.current.deadline(); {
	case w.Create:
		h.end(w.Time, v1alpha1.TermDeleted)
	case !d.IsZero() && w.Time.After(d.Add(-expirySlack)):
		h.expire(w.Time)
	default:
		h.end(w.Time, v1alpha1.TermTakenOver)
	}
}

// expire ends a term that ran out before at.
func (h *History) expire(at time.Time) {
	end := h.current.deadline()
	if at.Before(end) {
		end = at
	}
	h.end(end, v1alpha1.TermExpired)
}

// Delete takes up that the Lease was deleted.
func (h *History) Delete(at time.Time) {
	if h.held {
		h.end(at, v1alpha1.TermDeleted)
	}
}

// Finish takes up that the log ends at that time.
func (h *History) Finish(at time.Time) {
	if d := h.current.deadline(); h.held && !d.IsZero() && at.After(d) {
		h.expire(at)
	}
	if h.held {
		h.keep()
		return
	}
	h.Totals.Finish(at)
}

func (h *History) end(at time.Time, reason string) {
	t := &h.current
	t.End, t.Reason = at, reason
	h.held = false
	h.Ended(t.Alive())
	h.ended = *t
	h.keep()
}

func (h *History) keep() {
	if len(h.Terms) < MaxTerms {
		h.Terms = append(h.Terms, h.current)
	}
}
