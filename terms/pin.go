package terms

import (
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// pinNext is what became of a pin, nil if there is none. It does no I/O and
// reads no clock.
//
// A pin makes the holder step down at once. If the pinned candidate then does
// not take the Lease, another one has to, after the acquire deadline, and would
// be made to step down again: a candidate that hangs would so take the Lease
// away from everybody else, time and again. Who merely waits for a Lease writes
// nothing, so there is no telling that it hangs before it was tried.
func (s *sighting) pinNext() *v1alpha1.PinStatus {
	pin := s.wanted.spec.Pin
	if pin == "" {
		return nil
	}
	next := v1alpha1.PinStatus{To: pin}
	if last := s.previous.Pin; last != nil && last.To == pin {
		next = *last
	}
	term := currentTerm(s.terms)
	switch {
	case term != nil && term.Holder == pin:
		next.Failures, next.RetryAfter = 0, nil
	case next.Since != nil && term != nil && term.Start.After(next.Since.Time) && s.couldLead(pin):
		next.Failures++
		retry := seconds(s.now.Add(pauseAfter(int(next.Failures))))
		next.RetryAfter = &retry
	}
	decides := s.decision.Criterion == picker.CriterionPinned && s.mode() == v1alpha1.Enforce && !next.Suspends(pin, s.now)
	switch {
	case !decides && s.passedOver(pin):
		// Another one is about to have to lead. Not only that must be seen, but
		// that the pin had decided before.
	case !decides:
		next.Since = nil
	case next.Since == nil:
		since := seconds(s.now)
		next.Since = &since
	}
	return &next
}

// passedOver reports whether the candidate is left out for its silence alone.
func (s *sighting) passedOver(name string) bool {
	v := s.decision.Verdict(name)
	return v != nil && v.Filter == picker.FilterPassedOver
}

// couldLead reports whether nothing kept the candidate from leading but its own
// silence.
func (s *sighting) couldLead(name string) bool {
	v := s.decision.Verdict(name)
	return v != nil && (v.Eligible || s.passedOver(name))
}

// retries is when a suspended pin decides again. Zero: it is not suspended.
func retries(pin *v1alpha1.PinStatus) time.Time {
	if pin == nil || pin.RetryAfter == nil || pin.Since != nil {
		return time.Time{}
	}
	return pin.RetryAfter.Time
}
