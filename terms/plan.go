package terms

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// Action is what is done about the term of a Lease.
type Action string

const (
	// ActionStepDown tells the holder to step down.
	ActionStepDown Action = "StepDown"
	// ActionTakeBack takes that back: its reason is gone.
	ActionTakeBack Action = "TakeBack"
	// ActionClear takes away what is left of it: the holder has gone.
	ActionClear Action = "Clear"
	// ActionEvict evicts the holder's Pod.
	ActionEvict Action = "Evict"
	// ActionRelease releases the Lease on behalf of a holder that is dead.
	ActionRelease Action = "Release"
)

// situation is what a plan is made from.
type situation struct {
	// lease exists.
	lease *coordinationv1.Lease
	// policy governs it, spec is what it was compiled from.
	policy *picker.Policy
	spec   *v1alpha1.ElectionPolicySpec
	mode   v1alpha1.Mode
	// decision is the picker's, as of now.
	decision *picker.Decision
	// holder is the name of the candidate that holds the Lease. Empty: nobody
	// does, or it is no candidate.
	holder string
	// pods are those that the holder's identity fits.
	pods []candidates.HolderPod
	// replacement is the holder identity of the chosen candidate. Empty: not
	// known.
	replacement string
	// term is the current one. Nil: it has run out, or there is none.
	term *v1alpha1.Term
	// stepping is the condition SteppingDown as it was. Nil: there was none.
	stepping *metav1.Condition
	// lastMove is when a preemption of this Lease last began or ended, as far as
	// we remember. Zero: never.
	lastMove time.Time
	// trial knows which replacements did not take the Lease.
	trial *trial
	// rally knows who had to make way by the policy.
	rally *rally
	// evictAfter is when an eviction may be tried again. Zero: at any time.
	evictAfter time.Time
	// othersMove says that a holder of another Lease is being moved right now, on
	// which the choice for this one depends.
	othersMove bool
	now        time.Time
}

// plan is what to do about a term.
type plan struct {
	// action is empty if there is nothing to do.
	action Action
	// note says what is done and why, as one sentence.
	note string
	// preferred is who spec.preferredHolder is to name. Empty: nobody.
	preferred string
	// pod is the one to evict, death the report that the holder is dead.
	pod   *corev1.Pod
	death *death
	// condition is SteppingDown once the action has been carried out.
	condition metav1.Condition
	// again is when the plan changes by time alone. Zero: it does not.
	again time.Time
}

// plan depends on the situation alone.
func (s *situation) plan() plan {
	ordered := s.ordered()
	switch reason := s.handsOff(); {
	case reason != "" && ordered:
		return s.takeBack(reason)
	case reason != "":
		return plan{condition: s.idle()}
	case s.outdated():
		return s.clear()
	}
	if d := s.death(); d != nil {
		return s.release(d)
	}
	if ordered {
		return s.goOn()
	}
	return s.begin()
}

// handsOff says why nobody may be moved, or "".
func (s *situation) handsOff() string {
	switch {
	case candidates.CoordinatedByOthers(s.lease):
		return "the Lease is coordinated by another controller"
	case s.mode != v1alpha1.Enforce:
		return fmt.Sprintf("%s is in mode %s", s.policy, s.mode)
	case s.decision.Paused:
		return "the election is paused"
	}
	return ""
}

// ordered reports whether the Lease has an order to step down.
func (s *situation) ordered() bool {
	return s.lease.Annotations[v1alpha1.StepDownAnnotation] != "" || ourPreferredHolder(s.lease) != ""
}

// outdated reports whether the order is one to somebody who does not hold the
// Lease any more.
func (s *situation) outdated() bool {
	to, holder := s.lease.Annotations[v1alpha1.StepDownAnnotation], holderIdentity(s.lease)
	return s.ordered() && (holder == "" || to != "" && to != holder)
}

// death is the report that the holder is dead, if the Lease is to be released
// for that. In a coordinated election somebody else may have written when the
// holder acquired it, by another clock than that of the holder's node, and then
// nobody can tell which of its processes that was.
func (s *situation) death() *death {
	if s.term == nil || !*s.spec.Failover.ReleaseOnTermination || candidates.CoordinatedByUs(s.lease) {
		return nil
	}
	return deathOf(s.lease, s.pods, s.spec.Failover.Container)
}

func (s *situation) release(d *death) plan {
	p := plan{action: ActionRelease, death: d, condition: s.idle()}
	p.note = s.released(d, "is")
	if s.ordered() || s.isStepping() {
		p.condition = s.notStepping(reasonSteppedDown, s.holderName()+" has stepped down")
	}
	return p
}

// clear takes an order away whose addressee has gone.
func (s *situation) clear() plan {
	return plan{
		action: ActionClear, note: "the holder that was told to step down has gone",
		condition: s.notStepping(reasonSteppedDown, "the holder has stepped down"),
	}
}

func (s *situation) takeBack(reason string) plan {
	note := fmt.Sprintf("%s need not step down any more: %s", s.holderName(), reason)
	return plan{action: ActionTakeBack, note: note, condition: s.notStepping(reasonTakenBack, note)}
}

// goOn is for an order that was given. That its term has run out is no reason
// to take it back: a holder that comes back with the same identity goes on by a
// renewal.
func (s *situation) goOn() plan {
	if reason := s.reprieve(); reason != "" {
		return s.takeBack(reason)
	}
	p := plan{condition: s.stepsDown(reasonDenyingRenewals)}
	p.preferred = s.preferred()
	if p.preferred != ourPreferredHolder(s.lease) || s.lease.Annotations[v1alpha1.StepDownAnnotation] == "" {
		p.action, p.note = ActionStepDown, p.condition.Message
	}
	return p
}

// reprieve says why the holder need not make way, or "".
func (s *situation) reprieve() string {
	d := s.decision
	switch {
	case d.Chosen == nil:
		return "nobody is there to replace it"
	case d.Chosen.Name == s.holder:
		return fmt.Sprintf("it is chosen by %s", d.Criterion)
	case !picker.Preempts(s.policy, d, s.holder):
		return fmt.Sprintf("%s asks for it no more", s.policy)
	case !d.ByHand() && s.awaitsRollout():
		return "a rollout is in progress"
	}
	return ""
}

// begin is for a holder that was told nothing yet.
func (s *situation) begin() plan {
	if s.term == nil || holderIdentity(s.lease) == "" || s.reprieve() != "" {
		return plan{condition: s.idle()}
	}
	if !s.decision.ByHand() {
		if wait := s.patience(); wait.After(s.now) {
			return plan{condition: s.idle(), again: wait}
		}
		if wait := s.restraint(); wait.After(s.now) {
			return plan{condition: s.restrained(wait), again: wait}
		}
		if s.othersMove {
			return plan{condition: s.idle(), again: s.now.Add(recheckSoon)}
		}
	}
	pod := s.evictee()
	if pod != nil && pod.DeletionTimestamp == nil {
		return s.evict(pod)
	}
	if pod != nil && pod.DeletionTimestamp.After(s.now) {
		// Without its Lease, the holder would not live to end with grace.
		return plan{condition: s.underWay(), again: pod.DeletionTimestamp.Time}
	}
	if len(holderIdentity(s.lease)) > candidates.MaxIdentityBytes {
		// An annotation has no room for it, and nobody needs such an identity.
		return plan{condition: s.idle()}
	}
	p := plan{action: ActionStepDown, preferred: s.preferred(), condition: s.stepsDown(reasonDenyingRenewals)}
	p.note = p.condition.Message
	return p
}

// patience is until when the policy leaves the holder alone.
func (s *situation) patience() time.Time {
	wait := s.term.Start.Add(s.spec.Preemption.MinTerm.Duration)
	if last := s.lastPreemption(); !last.IsZero() {
		cooldown := max(s.spec.Preemption.Cooldown.Duration, s.trial.pause(s.decision.Chosen.Name))
		if end := last.Add(cooldown); end.After(wait) {
			wait = end
		}
	}
	return wait
}

// restraint is until when the Lease may not go back to one that had to make way.
// Zero: it may. A holder that should not lead at all is not kept for long.
func (s *situation) restraint() time.Time {
	pause := s.rally.pause(s.decision.Chosen.Name, s.now)
	if pause == 0 {
		return time.Time{}
	}
	if v := s.decision.Verdict(s.holder); v == nil || !v.Eligible {
		pause = min(pause, firstPause)
	}
	return s.lastPreemption().Add(pause)
}

// lastPreemption is when the last one ended, or began as far as we remember.
// Zero: never.
func (s *situation) lastPreemption() time.Time {
	last := s.lastMove
	if c := s.stepping; c != nil && !s.isStepping() && c.Reason != reasonNotSteppingDown && c.LastTransitionTime.After(last) {
		last = c.LastTransitionTime.Time
	}
	return last
}

// evictee is the Pod that the method Evict evicts, or has. Nil: the method is
// another one, or an eviction would not end the holder.
func (s *situation) evictee() *corev1.Pod {
	if s.spec.Preemption.Method != v1alpha1.Evict || s.lease.Spec.AcquireTime == nil {
		return nil
	}
	pod := holderPod(s.pods, s.lease.Spec.AcquireTime.Time)
	if pod == nil || pod.Annotations[corev1.MirrorPodAnnotationKey] != "" {
		return nil
	}
	return pod
}

// underWay is the condition while what was begun goes on.
func (s *situation) underWay() metav1.Condition {
	if s.isStepping() {
		return *s.stepping
	}
	return s.idle()
}

func (s *situation) evict(pod *corev1.Pod) plan {
	if s.evictAfter.After(s.now) {
		return plan{condition: s.underWay(), again: s.evictAfter}
	}
	p := plan{action: ActionEvict, pod: pod, condition: s.stepsDown(reasonEvicting)}
	p.note = p.condition.Message
	return p
}

// preferred is who spec.preferredHolder is to name, "" on a Lease that nobody
// coordinates through us.
func (s *situation) preferred() string {
	if !candidates.CoordinatedByUs(s.lease) || len(s.replacement) > candidates.MaxIdentityBytes {
		return ""
	}
	return s.replacement
}

// ourPreferredHolder is who we asked a coordinated elector to make way for.
func ourPreferredHolder(lease *coordinationv1.Lease) string {
	if !candidates.CoordinatedByUs(lease) || lease.Spec.PreferredHolder == nil {
		return ""
	}
	return *lease.Spec.PreferredHolder
}

// holderName is what messages call the holder.
func (s *situation) holderName() string {
	if s.holder != "" {
		return s.holder
	}
	return candidates.Clip(holderIdentity(s.lease), maxReasonBytes)
}
