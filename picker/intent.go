package picker

// Criteria of a person's intent.
const (
	// CriterionSwitchover decided if a person moves the Lease there now.
	CriterionSwitchover = "Switchover"
	// CriterionPinned decided if a person pinned the Lease there.
	CriterionPinned = "Pinned"
	// CriterionPaused decided if a person paused the election.
	CriterionPaused = "Paused"
)

// Intent is what a person wants of a Lease, whatever the policy says. The zero
// Intent wants nothing.
type Intent struct {
	// Paused leaves the Lease to whoever acquires it first, among all
	// candidates. It comes before the others.
	Paused bool
	// SwitchoverTo is the Name of the candidate that the Lease is being moved
	// to. It comes before PinnedTo.
	SwitchoverTo string
	// PinnedTo is the Name of the candidate that the Lease is pinned to.
	PinnedTo string
}

// prefer chooses the candidate that a person wants, if it is eligible, and
// returns what decided, or "". An intent never makes a candidate eligible:
// otherwise it could hold the Lease up.
func (n *Intent) prefer(eligible []Verdict) (criterion string) {
	switch {
	case n.SwitchoverTo != "" && moveToFront(eligible, n.SwitchoverTo):
		return CriterionSwitchover
	case n.PinnedTo != "" && moveToFront(eligible, n.PinnedTo):
		return CriterionPinned
	}
	return ""
}

// moveToFront moves the verdict on that candidate before the others, and
// reports whether there is one.
func moveToFront(verdicts []Verdict, name string) bool {
	for i := range verdicts {
		if verdicts[i].Candidate.Name == name {
			wanted := verdicts[i]
			copy(verdicts[1:i+1], verdicts[:i])
			verdicts[0] = wanted
			return true
		}
	}
	return false
}
