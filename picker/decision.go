package picker

// Criteria that are not the name of a Score.
const (
	// CriterionOnlyCandidate decided if just one candidate was eligible.
	CriterionOnlyCandidate = "OnlyCandidate"
	// CriterionOldest decided if all scores were equal and the older candidate
	// (or the name, among those of the same age) broke the tie.
	CriterionOldest = "OldestCandidate"
	// CriterionFirstCome decided if the policy chooses nobody.
	CriterionFirstCome = "FirstCome"
)

// Decision is the picker's answer and its reasons.
type Decision struct {
	// Chosen is the candidate that should lead, or nil if none is eligible or
	// the policy leaves it open (AnyEligible).
	Chosen *Candidate
	// AnyEligible says that every eligible candidate may acquire, as under the
	// strategy FirstCome.
	AnyEligible bool
	// Paused says that a person paused the election: every candidate may acquire,
	// eligible or not, and nobody is made to step down. AnyEligible is true, too.
	Paused bool
	// LastResort says that no candidate passed the policy's filters within the
	// acquire deadline, so that those which are available were ranked instead:
	// a Lease is never left vacant because of a policy.
	LastResort bool
	// Criterion is what decided: the name of a Score, or one of the constants.
	Criterion string
	// Verdicts are all candidates: the eligible ones first, in the order of
	// preference, then the others by name.
	Verdicts []Verdict
}

// Verdict is what was decided of one candidate.
type Verdict struct {
	Candidate *Candidate
	// Eligible says that the candidate passed all filters, or is ranked all the
	// same (Decision.LastResort).
	Eligible bool
	// Filter is the name of the filter that it did not pass, Reason why.
	Filter, Reason string
	// Scores are its scores, in the order of Policy.Criteria. Nil unless
	// Eligible.
	Scores []Value
}

// Verdict returns the verdict on the candidate of that name, or nil.
func (d *Decision) Verdict(name string) *Verdict {
	for i := range d.Verdicts {
		if d.Verdicts[i].Candidate.Name == name {
			return &d.Verdicts[i]
		}
	}
	return nil
}

// Allows reports whether the candidate of that name may acquire the Lease.
func (d *Decision) Allows(name string) bool {
	if d.Chosen != nil {
		return d.Chosen.Name == name
	}
	v := d.Verdict(name)
	return d.AnyEligible && v != nil && (v.Eligible || d.Paused)
}
