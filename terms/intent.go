package terms

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// Reasons of the conditions that tell what becomes of a person's intent.
const (
	reasonByHand         = "ByHand"
	reasonPinDecides     = "PinDecides"
	reasonPinPaused      = "ElectionPaused"
	reasonPinSwitchover  = "SwitchoverInProgress"
	reasonPinUnknown     = "NoSuchCandidate"
	reasonPinNotEligible = "CandidateNotEligible"
	reasonPinFailed      = "CandidateFailed"
	reasonPinNotEnforced = "NotEnforced"
)

// switchover is the answer to whoever asked for one.
func (s *sighting) switchover() *v1alpha1.SwitchoverStatus {
	next := switchover{
		spec: &s.wanted.spec, generation: s.wanted.generation, answer: s.previous.Switchover,
		decision: s.decision, policy: s.view.Policy.String(), mode: s.mode(), now: s.now,
		coordinated: s.lease != nil && candidates.CoordinatedByOthers(s.lease),
	}
	if t := currentTerm(s.terms); t != nil {
		next.holder, next.since = t.Holder, t.Start.Time
	}
	return next.next()
}

// byHand are the conditions that are there only if somebody wants something.
func (s *sighting) byHand(pin *v1alpha1.PinStatus) []metav1.Condition {
	var out []metav1.Condition
	if s.wanted.spec.Paused {
		out = append(out, condition(v1alpha1.ConditionPaused, true, reasonByHand,
			"spec.paused is set: any candidate may acquire the Lease, and nobody is made to step down"))
	}
	if pin != nil {
		out = append(out, s.pinned(pin))
	}
	return out
}

// pinned says whether the pin is what decides, and if not, why.
func (s *sighting) pinned(status *v1alpha1.PinStatus) metav1.Condition {
	pin := status.To
	not := func(reason, message string) metav1.Condition {
		return condition(v1alpha1.ConditionPinned, false, reason, message)
	}
	v := s.decision.Verdict(pin)
	switch {
	case status.Suspends(pin, s.now):
		return not(reasonPinFailed, fmt.Sprintf("%s did not take the Lease, so that another candidate had to: the pin decides again at %s",
			pin, status.RetryAfter.UTC().Format(time.RFC3339)))
	case s.decision.Criterion == picker.CriterionPinned && s.mode() != v1alpha1.Enforce:
		return not(reasonPinNotEnforced, fmt.Sprintf("the Lease would be held on %s, but the mode is %s", pin, s.mode()))
	case s.decision.Criterion == picker.CriterionPinned:
		return condition(v1alpha1.ConditionPinned, true, reasonPinDecides, "the Lease is held on "+pin)
	case s.decision.Paused:
		return not(reasonPinPaused, "the election is paused, which comes before the pin")
	case v == nil:
		return not(reasonPinUnknown, fmt.Sprintf("no candidate is named %s: the strategy chooses until there is one", pin))
	case !v.Eligible:
		return not(reasonPinNotEligible, fmt.Sprintf("%s is not eligible (%s: %s): the strategy chooses until it is", pin, v.Filter, candidates.Clip(v.Reason, maxReasonBytes)))
	}
	return not(reasonPinSwitchover, "a switchover is in progress, which comes before the pin")
}
