package picker

import "github.com/leasewarden/leasewarden/api/v1alpha1"

// ByHand reports whether a person chose the candidate.
func (d *Decision) ByHand() bool {
	return d.Chosen != nil && (d.Criterion == CriterionSwitchover || d.Criterion == CriterionPinned)
}

// Preempts reports whether the holder of that name has to make way for the
// chosen candidate: a person wants it, or the policy does and the chosen one is
// strictly better. It says nothing about when; an empty name is a holder that
// is no candidate, who only makes way if a person wants it.
func Preempts(policy *Policy, d *Decision, holder string) bool {
	switch {
	case d.Chosen == nil || d.Chosen.Name == holder || d.Paused || d.LastResort:
		return false
	case d.ByHand():
		return true
	case policy.Preempt == "" || policy.Preempt == v1alpha1.PreemptNever:
		return false
	}
	return d.improves(holder)
}

// improves reports whether the chosen candidate is better than the holder, and
// not just older. A holder that can not lead any more is on its way out, and
// needs nobody to hurry it.
func (d *Decision) improves(holder string) bool {
	v := d.Verdict(holder)
	switch {
	case v == nil || v.Candidate.Unavailable != "":
		return false
	case !v.Eligible:
		return true
	}
	best := d.Verdict(d.Chosen.Name)
	for i := range best.Scores {
		if n := best.Scores[i].Compare(v.Scores[i]); n != 0 {
			return n > 0
		}
	}
	return false
}

// Decisive is the name of the score that puts the chosen candidate before the
// other of that name. Empty: no score does.
func (d *Decision) Decisive(policy *Policy, other string) string {
	if d.Chosen == nil {
		return ""
	}
	best, v := d.Verdict(d.Chosen.Name), d.Verdict(other)
	if v == nil || !v.Eligible {
		return ""
	}
	for i := range best.Scores {
		if best.Scores[i].Compare(v.Scores[i]) != 0 {
			return policy.Scores[i].Name()
		}
	}
	return ""
}
