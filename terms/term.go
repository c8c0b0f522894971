package terms

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// staleAfter is how far the renewTime of a Lease that is seen for the first
// time must lie behind the end of its term before the term counts as ended:
// renewTime is by the holder's clock, and the two may differ.
const staleAfter = time.Minute

// takeoverSlack is how long before the end of a term, as we count it, a
// takeover still counts as its expiry: electors watch the same Lease with other
// delays.
const takeoverSlack = time.Second

// history derives the terms of one Lease from what is seen of it, one
// observation after the other. It does no I/O and reads no clock. A zero
// history has seen nothing; resume makes one that knows earlier terms. It is
// not safe for concurrent use.
//
// Holders write acquireTime and renewTime by clocks of their own, so these are
// only believed within the bounds of what we saw ourselves.
type history struct {
	// terms are the newest first, with times cut to seconds, as the API keeps
	// them, and very long identities clipped. The slice is replaced, never changed in place.
	terms []v1alpha1.Term
	// seen is when the Lease was last observed, renewed when a renewal was, by
	// our own clock. Zero: not yet.
	seen, renewed time.Time
	// renewTime and duration are those of the Lease as last seen. A duration of
	// 0 does not run out.
	renewTime metav1.MicroTime
	duration  time.Duration
	// fresh says that the newest term has begun and was not described yet.
	fresh bool
	// born says that the Lease was seen to come to be, so that the first term is
	// not an older one.
	born bool
}

// resume makes the history of a Lease whose terms were recorded earlier.
func resume(terms []v1alpha1.Term) *history { return &history{terms: terms} }

// observe takes up the Lease as it is at now, and reports whether that changed
// the terms.
func (h *history) observe(lease *coordinationv1.Lease, now time.Time) (changed bool) {
	holder, first := candidates.ClipIdentity(holderIdentity(lease)), h.seen.IsZero()
	renewed := first || !h.renewTime.Equal(lease.Spec.RenewTime)
	defer h.saw(lease, now, renewed)
	switch {
	case h.current() != nil && h.current().Identity == holder:
		return first && h.endStale(lease, now)
	case h.current() != nil:
		h.hand(lease, holder, now)
		return true
	case holder == "":
		return false
	case h.goesOn(lease, holder):
		return renewed && h.reopen(lease, first)
	}
	h.begin(lease, holder, now)
	if first {
		h.endStale(lease, now)
	}
	return true
}

func (h *history) saw(lease *coordinationv1.Lease, now time.Time, renewed bool) {
	if renewed {
		h.renewed = now
		h.renewTime = metav1.MicroTime{}
		if lease.Spec.RenewTime != nil {
			h.renewTime = *lease.Spec.RenewTime
		}
	}
	h.seen, h.duration = now, leaseDuration(lease)
}

// hand ends the current term by what the Lease says now, and begins the next
// one if there is a holder.
func (h *history) hand(lease *coordinationv1.Lease, holder string, now time.Time) {
	if holder == "" {
		h.end(v1alpha1.TermReleased, h.within(lease.Spec.RenewTime, now))
		return
	}
	start := h.within(lease.Spec.AcquireTime, now)
	if deadline := h.deadline(); !deadline.IsZero() && !now.Before(deadline.Add(-takeoverSlack)) {
		h.end(v1alpha1.TermExpired, earlier(deadline, start))
	} else {
		h.end(v1alpha1.TermTakenOver, start)
	}
	h.begin(lease, holder, now)
}

// goesOn reports whether a holder that we counted out has the term that it had:
// nobody else held the Lease, and it was not acquired anew.
func (h *history) goesOn(lease *coordinationv1.Lease, holder string) bool {
	if len(h.terms) == 0 {
		return false
	}
	last := &h.terms[0]
	if last.Identity != holder || last.EndReason != v1alpha1.TermExpired {
		return false
	}
	acquired := lease.Spec.AcquireTime
	return acquired == nil || !acquired.After(last.End.Time)
}

// reopen takes the end of the newest term back. If the Lease is seen for the
// first time, it must say itself that it was renewed since that end.
func (h *history) reopen(lease *coordinationv1.Lease, first bool) bool {
	if t := lease.Spec.RenewTime; first && (t == nil || !t.After(h.terms[0].End.Time)) {
		return false
	}
	h.edit(func(t *v1alpha1.Term) { t.End, t.EndReason = nil, "" })
	return true
}

// stale reports whether the term had run out long before now, by the holder's
// own clock.
func stale(lease *coordinationv1.Lease, now time.Time) bool {
	end := endByHolder(lease)
	return !end.IsZero() && now.Sub(end) >= staleAfter
}

func endByHolder(lease *coordinationv1.Lease) time.Time {
	d := leaseDuration(lease)
	if lease.Spec.RenewTime == nil || d == 0 {
		return time.Time{}
	}
	return lease.Spec.RenewTime.Add(d)
}

// endStale ends the current term if it is stale: Leases of components that are
// gone lie about for years.
func (h *history) endStale(lease *coordinationv1.Lease, now time.Time) bool {
	if !stale(lease, now) {
		return false
	}
	h.end(v1alpha1.TermExpired, endByHolder(lease))
	return true
}

// expire ends the current term if it has run out at now, and reports whether it
// did.
func (h *history) expire(now time.Time) bool {
	deadline := h.deadline()
	if deadline.IsZero() || now.Before(deadline) {
		return false
	}
	h.end(v1alpha1.TermExpired, deadline)
	return true
}

// delete takes up that the Lease does not exist, and reports whether that
// changed the terms.
func (h *history) delete(now time.Time) bool {
	held := h.current() != nil
	if held {
		h.end(v1alpha1.TermDeleted, now)
	}
	h.seen, h.renewed, h.renewTime = now, now, metav1.MicroTime{}
	return held
}

// deadline is when the current term runs out unless it is renewed, by our own
// observation. Zero: there is none.
func (h *history) deadline() time.Time {
	if h.current() == nil || h.duration == 0 || h.renewed.IsZero() {
		return time.Time{}
	}
	return h.renewed.Add(h.duration)
}

// current is the term that has not ended, or nil.
func (h *history) current() *v1alpha1.Term { return currentTerm(h.terms) }

func currentTerm(terms []v1alpha1.Term) *v1alpha1.Term {
	if len(terms) == 0 || terms[0].End != nil {
		return nil
	}
	return &terms[0]
}

func (h *history) begin(lease *coordinationv1.Lease, holder string, now time.Time) {
	start := h.within(lease.Spec.AcquireTime, now)
	next := v1alpha1.Term{Holder: holder, Identity: holder, Start: seconds(start)}
	h.terms = append([]v1alpha1.Term{next}, h.terms[:min(len(h.terms), v1alpha1.MaxTerms-1)]...)
	h.renewed, h.fresh = now, true
}

func (h *history) end(reason string, at time.Time) {
	h.edit(func(t *v1alpha1.Term) {
		end := seconds(at)
		if end.Before(&t.Start) {
			end = t.Start
		}
		t.End, t.EndReason = &end, reason
	})
}

// describe fills in what is known of the holder of the newest term, if that is
// still the term of t. What decided for it is taken up once: later decisions
// may have other grounds.
func (h *history) describe(t *v1alpha1.Term) {
	if len(h.terms) == 0 || h.terms[0].Identity != t.Identity || !h.terms[0].Start.Equal(&t.Start) {
		return
	}
	h.fresh = false
	if mine := &h.terms[0]; mine.Holder == t.Holder && mine.Version == t.Version && mine.Criterion == t.Criterion {
		return
	}
	h.edit(func(mine *v1alpha1.Term) {
		mine.Holder, mine.Version, mine.Criterion = t.Holder, t.Version, t.Criterion
	})
}

// edit changes the newest term in a copy of the list, since others may hold
// the list.
func (h *history) edit(change func(*v1alpha1.Term)) {
	h.terms = slices.Clone(h.terms)
	change(&h.terms[0])
}

// within is the time that a holder wrote, moved to when it can have been by our
// own clock: not before we last saw the Lease otherwise, not after now.
func (h *history) within(t *metav1.MicroTime, now time.Time) time.Time {
	earliest := h.seen
	if earliest.IsZero() && len(h.terms) > 0 {
		earliest = lastMoment(&h.terms[0])
	}
	switch {
	case t == nil || t.After(now):
		return now
	case !earliest.IsZero() && t.Time.Before(earliest):
		return earliest
	case t.Time.Before(firstTime):
		return now
	}
	return t.Time
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func lastMoment(t *v1alpha1.Term) time.Time {
	if t.End != nil {
		return t.End.Time
	}
	return t.Start.Time
}

func seconds(t time.Time) metav1.Time { return metav1.NewTime(t.UTC().Truncate(time.Second)) }

func holderIdentity(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

func leaseDuration(lease *coordinationv1.Lease) time.Duration {
	if lease.Spec.LeaseDurationSeconds == nil {
		return 0
	}
	return time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
}
