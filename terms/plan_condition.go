package terms

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// Reasons of the condition SteppingDown.
const (
	// reasonNotSteppingDown: nobody was ever told to.
	reasonNotSteppingDown = "NotAsked"
	reasonDenyingRenewals = "DenyingRenewals"
	reasonEvicting        = "Evicting"
	reasonEvictionRefused = "EvictionRefused"
	reasonSteppedDown     = "SteppedDown"
	reasonTakenBack       = "TakenBack"
	// reasonRestrained: the policy has two candidates make way for each other.
	reasonRestrained = "Restrained"
)

// stepsDown says who makes way for whom.
func (s *situation) stepsDown(reason string) metav1.Condition {
	verb := "was told to step down"
	if reason == reasonEvicting {
		verb = "is being evicted"
	}
	return condition(v1alpha1.ConditionSteppingDown, true, reason, s.replaced(verb))
}

// criterion is what puts the chosen candidate before the holder.
func (s *situation) criterion() string {
	if !s.decision.ByHand() {
		if c := s.decision.Decisive(s.policy, s.holder); c != "" {
			return c
		}
	}
	return s.decision.Criterion
}

func (s *situation) notStepping(reason, message string) metav1.Condition {
	return condition(v1alpha1.ConditionSteppingDown, false, reason, message)
}

// restrained says why nothing is done for now, though the policy asks for it.
func (s *situation) restrained(until time.Time) metav1.Condition {
	return s.notStepping(reasonRestrained, fmt.Sprintf(
		"%s has %s and others make way for each other: the Lease does not go back to %s before %s (by hand it does)",
		s.policy, s.holderName(), s.decision.Chosen.Name, until.UTC().Format(time.RFC3339)))
}

func (s *situation) isStepping() bool {
	return s.stepping != nil && s.stepping.Status == metav1.ConditionTrue
}

// idle is the condition while nothing is under way: it says how the last
// preemption ended, for the cooldown counts from there.
func (s *situation) idle() metav1.Condition {
	switch {
	case s.stepping == nil:
		return s.notStepping(reasonNotSteppingDown, "nobody was told to step down")
	case s.stepping.Reason == reasonRestrained:
		return s.notStepping(reasonSteppedDown, "the holder has stepped down")
	case !s.isStepping():
		return *s.stepping
	case s.term == nil || s.term.Start.After(s.stepping.LastTransitionTime.Time):
		return s.notStepping(reasonSteppedDown, "the holder has stepped down")
	case s.leaving():
		return *s.stepping
	}
	return s.notStepping(reasonTakenBack, "the holder need not step down any more")
}

// leaving reports whether the holder's Pod was evicted and is still there.
func (s *situation) leaving() bool {
	if s.stepping.Reason != reasonEvicting {
		return false
	}
	for i := range s.pods {
		if s.pods[i].Pod.DeletionTimestamp != nil {
			return true
		}
	}
	// The watch may bring the news of an eviction a moment later.
	return s.evictAfter.After(s.now)
}

// awaitsRollout reports whether the policy waits for the end of a rollout.
func (s *situation) awaitsRollout() bool {
	return s.policy.Preempt == v1alpha1.PreemptAfterRollout && rolling(s.decision, s.holder)
}

// rolling reports whether a rollout of the candidates is in progress: others than
// the holder are of an old revision, or one of the newest does not run yet.
func rolling(d *picker.Decision, holder string) bool {
	var newest int64
	for i := range d.Verdicts {
		newest = max(newest, d.Verdicts[i].Candidate.RevisionNumber)
	}
	for i := range d.Verdicts {
		c := d.Verdicts[i].Candidate
		switch {
		case c.Revision == "" || newest == 0:
		case c.RevisionNumber == newest && c.Unavailable != "":
			return true
		case c.RevisionNumber != newest && c.Name != holder:
			return true
		}
	}
	return false
}
