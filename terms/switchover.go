package terms

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// switchover is what the next answer to a person's request to move a Lease is
// made from. It does no I/O and reads no clock.
type switchover struct {
	// spec and generation are those of the Election.
	spec       *v1alpha1.ElectionSpec
	generation int64
	// answer is the last one that we gave. Nil: none.
	answer *v1alpha1.SwitchoverStatus
	// holder is the name of who holds the Lease, since when. Empty: nobody.
	holder string
	since  time.Time
	// coordinated says that the Lease belongs to another election controller.
	coordinated bool
	decision    *picker.Decision
	// policy names the policy that governs the Lease, mode is how.
	policy string
	mode   v1alpha1.Mode
	now    time.Time
}

// next is the answer as of now, nil if nobody ever asked.
func (s *switchover) next() *v1alpha1.SwitchoverStatus {
	request := s.spec.Switchover
	switch {
	case request == nil:
		return s.withdrawn()
	case s.isAnswered():
		return s.answer
	case s.answer.Answers(request) && s.answer.State == v1alpha1.SwitchoverInProgress:
		return s.goOn()
	case request.At != nil && s.now.Before(request.At.Time):
		return s.scheduled()
	}
	return s.begin()
}

// isAnswered reports whether the request is one that has ended. One without
// a time that comes back in another generation is a new one; one with a time is
// the same for ever, so that a tool that puts it back does not repeat it.
func (s *switchover) isAnswered() bool {
	if !s.answer.Answers(s.spec.Switchover) || !s.answer.State.Ended() {
		return false
	}
	return s.answer.At != nil || s.answer.ObservedGeneration == s.generation
}

// clearsSwitchover reports whether the request is to be taken out of the spec: it has
// ended in this very generation. If it was put back since, it is left there.
func clearsSwitchover(spec *v1alpha1.ElectionSpec, generation int64, answer *v1alpha1.SwitchoverStatus) bool {
	return answer.Answers(spec.Switchover) && answer.State.Ended() && answer.ObservedGeneration == generation
}

// withdrawn answers that somebody took the request back before it had ended.
func (s *switchover) withdrawn() *v1alpha1.SwitchoverStatus {
	if s.answer == nil || s.answer.State.Ended() {
		return s.answer
	}
	if s.holder == s.answer.To {
		return s.end(s.answer, v1alpha1.SwitchoverDone, s.answer.To+" holds the Lease")
	}
	return s.end(s.answer, v1alpha1.SwitchoverFailed, "withdrawn before it was done")
}

func (s *switchover) scheduled() *v1alpha1.SwitchoverStatus {
	at := s.spec.Switchover.At
	return s.settle(v1alpha1.SwitchoverStatus{
		State:   v1alpha1.SwitchoverScheduled,
		Message: "begins at " + at.UTC().Format(time.RFC3339),
	})
}

// begin starts a switchover, or says why it cannot be done.
func (s *switchover) begin() *v1alpha1.SwitchoverStatus {
	request := s.spec.Switchover
	start := s.now
	if request.At != nil {
		start = request.At.Time
	}
	first := &v1alpha1.SwitchoverStatus{From: s.holder}
	end := start.Add(request.TimeoutOrDefault())
	switch obstacle := s.obstacle(); {
	case s.isOver(request):
		return s.end(first, v1alpha1.SwitchoverFailed, fmt.Sprintf("its time, %s, is over: a switchover of that time, or a later one, has ended already",
			start.UTC().Format(time.RFC3339)))
	case !s.now.Before(end):
		return s.end(first, v1alpha1.SwitchoverFailed, fmt.Sprintf("its time, %s, passed by more than its timeout of %s before it could begin",
			start.UTC().Format(time.RFC3339), request.TimeoutOrDefault()))
	case obstacle != "":
		return s.end(first, v1alpha1.SwitchoverFailed, obstacle)
	case s.holder == request.To:
		return s.end(first, v1alpha1.SwitchoverDone, request.To+" held the Lease already")
	}
	// Rounded up: the API keeps seconds, and the deadline must not come before
	// the timeout is over.
	deadline := seconds(end.Add(time.Second - time.Nanosecond))
	first.State, first.Message, first.Deadline = v1alpha1.SwitchoverInProgress, s.waitsFor(), &deadline
	return s.settle(*first)
}

// isOver reports whether the request has a time up to which all have ended: it
// was put back after another one had taken its place in the status.
func (s *switchover) isOver(request *v1alpha1.Switchover) bool {
	return request.At != nil && s.answer != nil && s.answer.LatestAt != nil && !request.At.After(s.answer.LatestAt.Time)
}

// goOn looks how far the switchover that is in progress got.
func (s *switchover) goOn() *v1alpha1.SwitchoverStatus {
	to := s.spec.Switchover.To
	if s.holder == to {
		return s.end(s.answer, v1alpha1.SwitchoverDone, fmt.Sprintf("%s holds the Lease", to))
	}
	if obstacle := s.obstacle(); obstacle != "" {
		return s.end(s.answer, v1alpha1.SwitchoverFailed, obstacle)
	}
	if s.holder != "" && (s.holder != s.answer.From || s.since.After(s.answer.Time.Time)) {
		// To go on would take the Lease away from one after the other.
		return s.end(s.answer, v1alpha1.SwitchoverFailed, fmt.Sprintf("%s did not take the Lease, and %s did", to, s.holder))
	}
	if s.answer.Deadline == nil || !s.now.Before(s.answer.Deadline.Time) {
		return s.end(s.answer, v1alpha1.SwitchoverFailed, fmt.Sprintf("not done within %s, %s", s.spec.Switchover.TimeoutOrDefault(), s.waitsFor()))
	}
	next := *s.answer
	next.Message = s.waitsFor()
	return s.settle(next)
}

// obstacle says why the Lease cannot move to the candidate, or "".
func (s *switchover) obstacle() string {
	request := s.spec.Switchover
	v := s.decision.Verdict(request.To)
	switch {
	case s.mode != v1alpha1.Enforce:
		return fmt.Sprintf("%s is in mode %s, which moves nothing", s.policy, s.mode)
	case s.coordinated:
		return "the Lease is coordinated by another controller, which we leave alone"
	case s.spec.Paused:
		return "the election is paused: resume it first"
	case s.spec.Pin != "" && s.spec.Pin != request.To:
		return fmt.Sprintf("the Lease is pinned to %s: unpin it first", s.spec.Pin)
	case v == nil:
		return fmt.Sprintf("%s is not a candidate: %s", request.To, s.candidates())
	case !v.Eligible:
		return fmt.Sprintf("%s is not eligible (%s: %s)", request.To, v.Filter, v.Reason)
	}
	return ""
}

// candidates names those that there are.
func (s *switchover) candidates() string {
	names := make([]string, len(s.decision.Verdicts))
	for i := range s.decision.Verdicts {
		names[i] = s.decision.Verdicts[i].Candidate.Name
	}
	if len(names) == 0 {
		return "there is none"
	}
	return "there are " + list(names)
}

func (s *switchover) waitsFor() string {
	if s.holder == "" {
		return fmt.Sprintf("waiting for %s to acquire the Lease", s.spec.Switchover.To)
	}
	return fmt.Sprintf("waiting for %s to give the Lease up", s.holder)
}

// end is the last answer to a request.
func (s *switchover) end(from *v1alpha1.SwitchoverStatus, state v1alpha1.SwitchoverState, message string) *v1alpha1.SwitchoverStatus {
	last := *from
	last.State, last.Message = state, message
	return s.settle(last)
}

// settle fills in what every answer has. While the state stays, so does its
// time.
func (s *switchover) settle(next v1alpha1.SwitchoverStatus) *v1alpha1.SwitchoverStatus {
	if request := s.spec.Switchover; request != nil {
		next.To, next.At = request.To, request.At
	}
	next.Message = candidates.Clip(next.Message, maxMessageBytes)
	next.ObservedGeneration = s.generation
	next.Time = seconds(s.now)
	next.LatestAt = s.latestAt(&next)
	if last := s.answer; last != nil && last.State == next.State && last.To == next.To && last.At.Equal(next.At) && !next.State.Ended() {
		next.Time = last.Time
	}
	return &next
}

// latestAt is the latest time of a switchover that came and has ended.
func (s *switchover) latestAt(next *v1alpha1.SwitchoverStatus) *metav1.Time {
	var latest *metav1.Time
	if s.answer != nil {
		latest = s.answer.LatestAt
	}
	if next.State.Ended() && next.At != nil && !next.At.After(s.now) && (latest == nil || latest.Before(next.At)) {
		latest = next.At
	}
	return latest
}

// due is when an answer changes by time alone. Zero: it does not.
func due(answer *v1alpha1.SwitchoverStatus) time.Time {
	switch {
	case answer == nil:
	case answer.State == v1alpha1.SwitchoverScheduled && answer.At != nil:
		return answer.At.Time
	case answer.State == v1alpha1.SwitchoverInProgress && answer.Deadline != nil:
		return answer.Deadline.Time
	}
	return time.Time{}
}
