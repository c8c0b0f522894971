package plugins

import "github.com/leasewarden/leasewarden/picker"

// StickyName is the name of the score Sticky.
const StickyName = "Sticky"

// Sticky prefers the incumbent: 1 for the holder, or the last holder while
// nobody holds the Lease, and 0 for the others. An instance that comes back
// under the same name, as a StatefulSet's or a static Pod does, is the same.
type Sticky struct{}

var _ picker.Score = Sticky{}

// Name implements picker.Score.
func (Sticky) Name() string { return StickyName }

// Score implements picker.Score.
func (Sticky) Score(s *picker.State, c *picker.Candidate) picker.Value {
	if isIncumbent(&s.Lease, c) {
		return picker.Integer(1)
	}
	return picker.Integer(0)
}

func isIncumbent(l *picker.Lease, c *picker.Candidate) bool {
	if l.Holder != "" {
		return c.Name == l.Holder
	}
	return l.LastHolder != "" && c.Name == l.LastHolder
}
