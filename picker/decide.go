package picker

import (
	"slices"
	"strings"
)

// Names of the filters that hold for every policy.
const (
	// FilterAvailable removes instances that can not lead at all.
	FilterAvailable = "Available"
	// FilterPassedOver removes candidates that did not try to acquire a vacant
	// Lease within the acquire deadline while others did.
	FilterPassedOver = "PassedOver"
)

// Decide says which of the candidates should lead the Lease. It only reads its
// arguments; the Decision points into state.Candidates. It takes O(n log n)
// for n candidates.
func Decide(policy *Policy, state *State) Decision {
	verdicts := judge(policy, state)
	d := Decision{AnyEligible: policy.AnyEligible}
	if !slices.ContainsFunc(verdicts, isEligible) && overdue(policy, state) {
		d.LastResort = admitAvailable(verdicts)
	}
	eligible := score(policy, state, verdicts)
	slices.SortFunc(verdicts, compareVerdicts)
	d.Verdicts = verdicts
	d.Criterion = criterion(policy, verdicts[:eligible])
	if eligible > 0 && !d.AnyEligible {
		d.Chosen = verdicts[0].Candidate
	}
	return d
}

// judge runs the filters over every candidate.
func judge(policy *Policy, state *State) []Verdict {
	verdicts := make([]Verdict, len(state.Candidates))
	late := overdue(policy, state)
	for i := range state.Candidates {
		verdicts[i] = filter(policy, state, &state.Candidates[i], late)
	}
	return verdicts
}

func filter(policy *Policy, state *State, c *Candidate, late bool) Verdict {
	v := Verdict{Candidate: c}
	switch {
	case c.Unavailable != "":
		v.Filter, v.Reason = FilterAvailable, c.Unavailable
		return v
	case late && c.LastAttempt.Before(state.Lease.ContestedSince):
		v.Filter, v.Reason = FilterPassedOver, "did not try to acquire within "+policy.deadline(&state.Lease).String()
		return v
	}
	for _, f := range policy.Filters {
		if reason := f.Filter(state, c); reason != "" {
			v.Filter, v.Reason = f.Name(), reason
			return v
		}
	}
	v.Eligible = true
	return v
}

// overdue reports whether the Lease has been contested, and left vacant, for
// the acquire deadline.
func overdue(policy *Policy, state *State) bool {
	since := state.Lease.ContestedSince
	return !since.IsZero() && state.Now.Sub(since) >= policy.deadline(&state.Lease)
}

// admitAvailable makes every candidate eligible that only the policy's own
// filters removed, and reports whether there is one.
func admitAvailable(verdicts []Verdict) bool {
	found := false
	for i := range verdicts {
		switch verdicts[i].Filter {
		case FilterAvailable, FilterPassedOver:
		default:
			verdicts[i].Eligible, found = true, true
		}
	}
	return found
}

// score fills in the scores of the eligible candidates and returns how many
// there are.
func score(policy *Policy, state *State, verdicts []Verdict) int {
	eligible := 0
	for i := range verdicts {
		if verdicts[i].Eligible {
			eligible++
		}
	}
	n := len(policy.Scores)
	values := make([]Value, eligible*n)
	for i := range verdicts {
		if !verdicts[i].Eligible {
			continue
		}
		verdicts[i].Scores, values = values[:n:n], values[n:]
		for j, s := range policy.Scores {
			verdicts[i].Scores[j] = s.Score(state, verdicts[i].Candidate)
		}
	}
	return eligible
}

func isEligible(v Verdict) bool { return v.Eligible }

// compareVerdicts puts the preferred candidate first and ineligible ones last.
func compareVerdicts(a, b Verdict) int {
	switch {
	case a.Eligible && !b.Eligible:
		return -1
	case !a.Eligible && b.Eligible:
		return 1
	case !a.Eligible:
		return strings.Compare(a.Candidate.Name, b.Candidate.Name)
	}
	if i := firstDifference(a.Scores, b.Scores); i >= 0 {
		return -a.Scores[i].Compare(b.Scores[i])
	}
	return a.Candidate.Compare(b.Candidate)
}

// firstDifference is the index of the first score in which a and b differ, or
// -1.
func firstDifference(a, b []Value) int {
	for i := range a {
		if a[i].Compare(b[i]) != 0 {
			return i
		}
	}
	return -1
}

// criterion says what put the first eligible candidate before the second.
func criterion(policy *Policy, eligible []Verdict) string {
	switch {
	case len(eligible) == 0:
		return ""
	case policy.AnyEligible:
		return CriterionFirstCome
	case len(eligible) == 1:
		return CriterionOnlyCandidate
	}
	if i := firstDifference(eligible[0].Scores, eligible[1].Scores); i >= 0 {
		return policy.Scores[i].Name()
	}
	return CriterionOldest
}
