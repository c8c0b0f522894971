package plugins

import "github.com/leasewarden/leasewarden/picker"

// SpreadName is the name of the score Spread.
const SpreadName = "Spread"

// Spread prefers the node that holds the fewest other governed Leases: its
// score is minus their number, and half a Lease more for the incumbent. So the
// incumbent wins among equals, and a move always makes the spread strictly
// better: two Leases never have a reason to swap nodes.
//
// Several Leases that are decided at the same moment do not see each other's
// moves; whoever carries them out has to do so one at a time.
type Spread struct{}

var _ picker.Score = Spread{}

// incumbentBonus is less than one Lease, so it only breaks ties.
const incumbentBonus = 0.5

// Name implements picker.Score.
func (Spread) Name() string { return SpreadName }

// Score implements picker.Score. A candidate that runs on no node shares it
// with nobody.
func (Spread) Score(s *picker.State, c *picker.Candidate) picker.Value {
	held := 0
	if c.Node != "" {
		held = s.Lease.HeldByNode[c.Node]
	}
	score := float64(-held)
	if isIncumbent(&s.Lease, c) {
		score += incumbentBonus
	}
	return picker.Float(score)
}
