package picker

// Names of the filters that hold for every policy.
const (
	// FilterAvailable removes instances that can not lead at all.
	FilterAvailable = "Available"
	// FilterReady removes instances that the policy does not hold ready yet.
	FilterReady = "Ready"
)

// Decide says which of the candidates should lead the Lease. It only reads its
// arguments; the Decision points into state.Candidates. The same candidates in
// another order give the same Decision. It takes O(n log n) for n candidates.
func Decide(policy *Policy, state *State) Decision {
	d := Decision{AnyEligible: policy.AnyEligible, Paused: state.Intent.Paused}
	verdicts, eligible := judge(policy, state)
	if eligible == 0 && isOverdue(policy, state) {
		eligible = admitAvailable(verdicts)
		d.LastResort = eligible > 0
	}
	score(policy, state, verdicts, eligible)
	rank(verdicts, eligible)
	d.Verdicts = verdicts
	d.choose(policy, &state.Intent, verdicts[:eligible])
	return d
}

// choose settles who is chosen among the eligible, and by what.
func (d *Decision) choose(policy *Policy, intent *Intent, eligible []Verdict) {
	if d.Paused {
		d.AnyEligible, d.Criterion = true, CriterionPaused
		return
	}
	if d.Criterion = intent.prefer(eligible); d.Criterion != "" {
		d.AnyEligible = false
	} else {
		d.Criterion = criterion(policy, eligible)
	}
	if len(eligible) > 0 && !d.AnyEligible {
		d.Chosen = eligible[0].Candidate
	}
}

// judge runs the filters over every candidate, and counts those that pass.
func judge(policy *Policy, state *State) (verdicts []Verdict, eligible int) {
	verdicts = make([]Verdict, len(state.Candidates))
	silence := newPassOver(policy, state)
	for i := range verdicts {
		v := &verdicts[i]
		v.Candidate = &state.Candidates[i]
		v.Filter, v.Reason = filter(policy, state, v.Candidate, &silence)
		v.Eligible = v.Filter == ""
		if v.Eligible {
			eligible++
		}
	}
	return verdicts, passOverSooner(policy, state, verdicts, eligible)
}

// filter returns the name of the first filter that removes c, and its reason.
func filter(policy *Policy, state *State, c *Candidate, silence *passOver) (name, reason string) {
	switch {
	case c.Unavailable != "":
		return FilterAvailable, c.Unavailable
	case silence.removes(c):
		return FilterPassedOver, silence.reason
	case c.NotReady != "":
		return FilterReady, c.NotReady
	}
	for _, f := range policy.Filters {
		if reason := f.Filter(state, c); reason != "" {
			return f.Name(), reason
		}
	}
	return "", ""
}

// admitAvailable makes every candidate eligible that only the policy's own
// filters removed, and counts them. What removed them stays in the verdict.
func admitAvailable(verdicts []Verdict) (eligible int) {
	for i := range verdicts {
		switch verdicts[i].Filter {
		case FilterAvailable, FilterPassedOver:
		default:
			verdicts[i].Eligible = true
			eligible++
		}
	}
	return eligible
}

// score fills in the scores of the eligible candidates.
func score(policy *Policy, state *State, verdicts []Verdict, eligible int) {
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
	for i, s := range policy.Scores {
		if compareValues(&eligible[0].Scores[i], &eligible[1].Scores[i]) != 0 {
			return s.Name()
		}
	}
	return CriterionOldest
}
