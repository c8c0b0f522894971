package terms

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// Values of the label reason of leasewarden_leader_changes_total that are not
// the EndReason of a term: it was us who ended it.
const (
	changePreempted  = "Preempted"
	changeHolderDied = "HolderDied"
	changeUnknown    = "Unknown"
)

// Values of the label reason of leasewarden_preemptions_total.
const (
	preemptedForBetter = "BetterCandidate"
	preemptedRollout   = "AfterRollout"
)

// Values of the label reason of leasewarden_preemption_failures_total.
const (
	failureTakenBack       = "TakenBack"
	failureEvictionRefused = "EvictionRefused"
	// failureNotTaken: another one than the replacement took the Lease.
	failureNotTaken = "NotTaken"
)

// tally remembers which terms of a Lease were counted. The zero value has counted
// none. Only the worker that has the key uses it.
type tally struct {
	// last is the newest of those that were counted, valid once begun.
	last  v1alpha1.Term
	begun bool
	// ended is the identity whose term we end, why is the reason.
	ended, why string
}

// begin leaves out the terms that were there before: recorded are those that
// somebody has published, who has counted them. Nil: nobody has.
func (t *tally) begin(status *v1alpha1.ElectionStatus, terms []v1alpha1.Term) {
	if t.begun {
		return
	}
	t.begun = true
	if status != nil {
		terms = status.Terms
	}
	if len(terms) > 0 {
		t.last = terms[0]
	}
}

// changes are the reasons of the changes since the last call. The newest term is
// the first; a term that none came before is no change.
func (t *tally) changes(terms []v1alpha1.Term) (reasons []string) {
	for i := range terms {
		if sameTerm(&terms[i], &t.last) {
			break
		}
		if i+1 < len(terms) {
			reasons = append(reasons, t.reason(&terms[i+1]))
		}
	}
	if len(terms) > 0 {
		t.last = terms[0]
	}
	return reasons
}

func (t *tally) reason(ended *v1alpha1.Term) string {
	if t.why != "" && t.ended == ended.Identity {
		return t.why
	}
	switch ended.EndReason {
	case v1alpha1.TermReleased, v1alpha1.TermExpired, v1alpha1.TermTakenOver, v1alpha1.TermDeleted:
		return ended.EndReason
	}
	return changeUnknown // it was recorded by somebody else
}

// ends notes that it is us who end the term of a holder identity. The first
// reason counts: a holder that was evicted dies of that. An empty one takes it
// back.
func (t *tally) ends(identity, why string) {
	identity = candidates.ClipIdentity(identity)
	if why == "" || t.why == "" || t.ended != identity {
		t.ended, t.why = identity, why
	}
}

// changed counts the changes of the leader since the last look.
func (m *Metrics) changed(lease types.NamespacedName, t *tally, terms []v1alpha1.Term) {
	for _, reason := range t.changes(terms) {
		m.changes.WithLabelValues(lease.Namespace, lease.Name, reason).Inc()
	}
}

// preempts is why a holder has to make way.
func (s *situation) preempts() string {
	switch {
	case s.decision.ByHand():
		return s.decision.Criterion
	case s.policy.Preempt == v1alpha1.PreemptAfterRollout:
		return preemptedRollout
	}
	return preemptedForBetter
}

// acted counts what was done about the term of a Lease. begun says that it is a
// preemption that was not under way before.
func (m *Metrics) acted(lease types.NamespacedName, t *tally, s *situation, p *plan, begun bool) {
	holder := holderIdentity(s.lease)
	fails := func(reason string) { m.failures.WithLabelValues(lease.Namespace, lease.Name, reason).Inc() }
	switch p.action {
	case ActionStepDown, ActionEvict:
		if p.condition.Reason == reasonEvictionRefused {
			fails(failureEvictionRefused)
			return
		}
		t.ends(holder, changePreempted)
		if begun {
			method := v1alpha1.DenyRenewal // also where Evict would not end the holder
			if p.action == ActionEvict {
				method = v1alpha1.Evict
			}
			m.preemptions.WithLabelValues(lease.Namespace, lease.Name, s.preempts(), string(method)).Inc()
		}
	case ActionTakeBack:
		t.ends("", "")
		fails(failureTakenBack)
	case ActionRelease:
		t.ends(holder, changeHolderDied)
		m.releases.WithLabelValues(lease.Namespace, lease.Name).Inc()
	}
}
