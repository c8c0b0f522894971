package terms

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// Reasons of the conditions of an Election.
const (
	reasonGoverned     = "Governed"
	reasonDryRun       = "DryRun"
	reasonLeaseDeleted = "LeaseDeleted"
	reasonCoordinated  = "CoordinatedByOthers"

	reasonOnePolicy       = "OnePolicy"
	reasonSeveralPolicies = "SeveralPolicies"

	reasonSomeEligible = "SomeEligible"
	reasonNoCandidate  = "NoCandidate"
	reasonAllFiltered  = "AllFiltered"
	reasonLastResort   = "LastResort"

	reasonHolderChosen     = "HolderChosen"
	reasonVacant           = "Vacant"
	reasonNobodyChosen     = "NobodyChosen"
	reasonOtherChosen      = "OtherChosen"
	reasonHolderUnknown    = "HolderUnknown"
	reasonHolderIneligible = "HolderIneligible"
)

// maxNamed bounds how many objects one message names.
const maxNamed = 10

// settle gives a condition the time of its last transition.
func settle(c *metav1.Condition, previous []metav1.Condition, now time.Time) {
	c.LastTransitionTime = seconds(now)
	if p := meta.FindStatusCondition(previous, c.Type); p != nil && p.Status == c.Status {
		c.LastTransitionTime = p.LastTransitionTime
	}
	c.Message = candidates.Clip(c.Message, maxMessageBytes)
}

func condition(kind string, holds bool, reason, message string) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	if holds {
		c.Status = metav1.ConditionTrue
	}
	return c
}

func (s *sighting) ready() metav1.Condition {
	c := s.noEligibleCandidate()
	switch {
	case s.lease == nil:
		return condition(v1alpha1.ConditionReady, false, reasonLeaseDeleted, "the Lease does not exist")
	case candidates.CoordinatedByOthers(s.lease):
		return condition(v1alpha1.ConditionReady, false, reasonCoordinated, fmt.Sprintf(
			"the Lease's spec.strategy is %s, so that another controller elects its holder: Leasewarden stands aside", candidates.Clip(string(*s.lease.Spec.Strategy), maxReasonBytes)))
	case c.Status == metav1.ConditionTrue:
		return condition(v1alpha1.ConditionReady, false, c.Reason, c.Message)
	case s.mode() == v1alpha1.DryRun:
		return condition(v1alpha1.ConditionReady, true, reasonDryRun, s.view.Policy.String()+" rules and admits everything")
	}
	return condition(v1alpha1.ConditionReady, true, reasonGoverned, s.view.Policy.String()+" governs the Lease")
}

func (s *sighting) policyConflict() metav1.Condition {
	if len(s.view.Overruled) == 0 {
		return condition(v1alpha1.ConditionPolicyConflict, false, reasonOnePolicy, "no other policy selects the Lease")
	}
	losers := make([]string, len(s.view.Overruled))
	for i, ref := range s.view.Overruled {
		losers[i] = ref.String()
	}
	slices.Sort(losers)
	return condition(v1alpha1.ConditionPolicyConflict, true, reasonSeveralPolicies,
		fmt.Sprintf("%s governs the Lease, which these select, too: %s", s.view.Policy, list(losers)))
}

func (s *sighting) noEligibleCandidate() metav1.Condition {
	total, eligible := len(s.decision.Verdicts), s.eligible()
	no := func(holds bool, reason, message string) metav1.Condition {
		return condition(v1alpha1.ConditionNoEligibleCandidate, holds, reason, message)
	}
	switch {
	case total == 0:
		return no(true, reasonNoCandidate, "no source of "+s.view.Policy.String()+" knows a candidate")
	case s.decision.LastResort:
		return no(true, reasonLastResort, "no candidate passes the filters of "+s.view.Policy.String()+
			" within the acquire deadline, so those that can lead at all may")
	case eligible == 0:
		return no(true, reasonAllFiltered, fmt.Sprintf("none of %d candidates is eligible: %s", total, s.objections()))
	}
	return no(false, reasonSomeEligible, "a candidate is eligible")
}

// objections says why each candidate is not eligible.
func (s *sighting) objections() string {
	var all []string
	for i := range s.decision.Verdicts {
		if v := &s.decision.Verdicts[i]; !v.Eligible {
			all = append(all, v.Candidate.Name+" ("+candidates.Clip(v.Reason, maxReasonBytes)+")")
		}
	}
	return list(all)
}

func (s *sighting) holderNotChosen() metav1.Condition {
	not := func(holds bool, reason, message string) metav1.Condition {
		return condition(v1alpha1.ConditionHolderNotChosen, holds, reason, message)
	}
	t := currentTerm(s.terms)
	if t == nil {
		return not(false, reasonVacant, "nobody holds the Lease")
	}
	holder := t.Holder
	switch {
	case s.decision.Allows(holder):
		return not(false, reasonHolderChosen, "the holder may lead")
	case s.eligible() == 0:
		return not(false, reasonNobodyChosen, "no candidate is eligible")
	case s.decision.Verdict(holder) == nil:
		return not(true, reasonHolderUnknown, fmt.Sprintf("the holder identity %q %s", candidates.Clip(t.Identity, maxReasonBytes), s.unknown(t)))
	case !s.decision.Verdict(holder).Eligible:
		return not(true, reasonHolderIneligible, fmt.Sprintf("%s holds the Lease and is not eligible: %s", holder, candidates.Clip(s.decision.Verdict(holder).Reason, maxReasonBytes)))
	}
	return not(true, reasonOtherChosen, fmt.Sprintf("%s holds the Lease, %s is chosen by %s", holder, s.decision.Chosen.Name, s.decision.Criterion))
}

// unknown says why no candidate is the holder.
func (s *sighting) unknown(t *v1alpha1.Term) string {
	if problem := s.view.Identify(t.Identity, nil).Problem; problem != "" {
		return problem
	}
	return "belongs to an instance that is gone"
}

// list joins names, and counts those beyond the first few.
func list(names []string) string {
	more := len(names) - maxNamed
	if more <= 0 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
}
