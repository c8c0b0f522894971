package plugins

import (
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func TestRolloutAware(t *testing.T) {
	checkScores(t, RolloutAware{}, stateOf(
		picker.Candidate{Name: "new", RevisionNumber: 7},
		picker.Candidate{Name: "old", RevisionNumber: 6},
		picker.Candidate{Name: "unknown"},
	), map[string]string{"new": "7", "old": "6", "unknown": "0"})
}

// A rollout of three replicas costs one change of leader: to the first new Pod.
func TestRolloutAwareChangesOnce(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.RolloutAware})
	pod := func(name string, revision int64, minute int) picker.Candidate {
		return picker.Candidate{Name: name, RevisionNumber: revision, Created: noon.Add(minutes(minute))}
	}
	o1, o2, o3 := pod("old-1", 1, 0), pod("old-2", 1, 0), pod("old-3", 1, 0)
	n1, n2, n3 := pod("new-1", 2, 1), pod("new-2", 2, 2), pod("new-3", 2, 3)
	for _, step := range []struct {
		state     *picker.State
		chosen    string
		criterion string
	}{
		{stateOf(o1, o2, o3), "old-1", picker.CriterionOldest},
		{stateOf(o1, o2, o3, n1), "new-1", RolloutAwareName},
		{stateOf(o2, o3, n1, n2), "new-1", picker.CriterionOldest},
		{stateOf(o3, n1, n2, n3), "new-1", picker.CriterionOldest},
		{stateOf(n1, n2, n3), "new-1", picker.CriterionOldest},
	} {
		checkDecision(t, policy, step.state, step.chosen, step.criterion)
	}
}
