package plugins

import "github.com/leasewarden/leasewarden/picker"

// PriorityName is the name of the score Priority.
const PriorityName = "Priority"

// Priority prefers the highest priority above 0. Candidates without one, with
// one that is not above 0, or with one that has run out are equal (KEP-4355,
// with the expiry that the KEP leaves open).
type Priority struct{}

var _ picker.Score = Priority{}

// Name implements picker.Score.
func (Priority) Name() string { return PriorityName }

// Score implements picker.Score.
func (Priority) Score(s *picker.State, c *picker.Candidate) picker.Value {
	return picker.Integer(int64(effectivePriority(s, c)))
}

// effectivePriority is c's priority at the moment of the decision. It no longer
// holds at PriorityUntil itself.
func effectivePriority(s *picker.State, c *picker.Candidate) int32 {
	if !c.PriorityUntil.IsZero() && !s.Now.Before(c.PriorityUntil) {
		return 0
	}
	return max(c.Priority, 0)
}
