package plugins

import "github.com/leasewarden/leasewarden/picker"

// RolloutAwareName is the name of the score RolloutAware.
const RolloutAwareName = "RolloutAware"

// RolloutAware prefers Pods of the newest revision: its score is the revision's
// number, 0 where it is unknown. A rollout kills the Pods of the other
// revisions next, so a leader of the newest one outlives it.
type RolloutAware struct{}

var _ picker.Score = RolloutAware{}

// Name implements picker.Score.
func (RolloutAware) Name() string { return RolloutAwareName }

// Score implements picker.Score.
func (RolloutAware) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	return picker.Integer(max(c.RevisionNumber, 0))
}
