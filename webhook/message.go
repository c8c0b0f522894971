package webhook

import (
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// refusal is the sentence that a denied claimant gets.
func refusal(r *Ruling, identity string, ballot *candidates.Ballot, decision *picker.Decision) string {
	lease := &ballot.State.Lease
	return fmt.Sprintf("lease %s/%s: %s under %s", quote(lease.Namespace), quote(lease.Name),
		refusalClause(r, identity, ballot, decision), r.Policy)
}

func refusalClause(r *Ruling, identity string, ballot *candidates.Ballot, decision *picker.Decision) string {
	claimant := "candidate " + quote(r.Claimant)
	switch r.Reason {
	case ReasonNotRegistered:
		return "holder identity " + quote(identity) + " " + problem(ballot.Claimant.Problem)
	case ReasonTermRunning:
		left := ballot.TermEnds.Sub(ballot.State.Now).Round(100 * time.Millisecond)
		return fmt.Sprintf("%s is too early: the term of %s runs for another %s", claimant, quote(ballot.TermHolder), left)
	case ReasonSteppedDown:
		if r.Claimant == "" {
			claimant = "holder " + quote(identity)
		}
		return fmt.Sprintf("%s was told to step down: %s", claimant, whoInstead(ballot.Policy, decision, eligible(decision, r.Claimant)))
	case ReasonNotEligible:
		return fmt.Sprintf("%s is not eligible (%s): %s", claimant, ineligibility(decision.Verdict(r.Claimant)), whoInstead(ballot.Policy, decision, nil))
	}
	return fmt.Sprintf("%s is not chosen: %s", claimant, whoInstead(ballot.Policy, decision, decision.Verdict(r.Claimant)))
}

// eligible is the verdict on that candidate, if it has scores to compare.
func eligible(decision *picker.Decision, name string) *picker.Verdict {
	if v := decision.Verdict(name); v != nil && v.Eligible {
		return v
	}
	return nil
}

func problem(p string) string {
	if p == "" {
		return "is not a registered candidate"
	}
	return phrase(p)
}

func ineligibility(v *picker.Verdict) string {
	if v == nil {
		return "it is not among the candidates"
	}
	return v.Filter + ": " + phrase(v.Reason)
}

// whoInstead names the chosen candidate and what puts it before the rival.
func whoInstead(policy *picker.Policy, decision *picker.Decision, rival *picker.Verdict) string {
	if decision.Chosen == nil {
		if decision.AnyEligible {
			return "any eligible candidate may lead"
		}
		return "no candidate is eligible"
	}
	chosen := quote(decision.Chosen.Name)
	if rival == nil {
		return fmt.Sprintf("%s is chosen by %s", chosen, decision.Criterion)
	}
	return fmt.Sprintf("%s is chosen by %s", chosen, comparison(policy, decision, rival))
}

// comparison names the criterion that puts the chosen candidate before the
// rival, and both values. It may be another one than what put the chosen
// candidate before the second best.
func comparison(policy *picker.Policy, decision *picker.Decision, rival *picker.Verdict) string {
	if c := decision.Criterion; c == picker.CriterionSwitchover || c == picker.CriterionPinned {
		return c
	}
	best := decision.Verdicts[0]
	for i := range best.Scores {
		if best.Scores[i].Compare(rival.Scores[i]) != 0 {
			return fmt.Sprintf("%s (%s over %s)", policy.Scores[i].Name(), phrase(best.Scores[i].String()), phrase(rival.Scores[i].String()))
		}
	}
	return picker.CriterionOldest
}

// strategyRefusal is the sentence for a write that would take a Lease out of its
// policy.
func strategyRefusal(namespace, name string) string {
	return fmt.Sprintf("lease %s/%s: only the API server may leave its election to another strategy, and a policy governs it; leave spec.strategy out",
		quote(namespace), quote(name))
}

// annotationRefusal is the sentence for a write to an annotation of ours.
func annotationRefusal(namespace, name, key string) string {
	return fmt.Sprintf("lease %s/%s: only Leasewarden may write the annotation %s; leave it as it is", quote(namespace), quote(name), quote(key))
}
