package plugins

import (
	"testing"

	"github.com/leasewarden/leasewarden/picker"
)

func TestOldestEmulationVersion(t *testing.T) {
	older, newer := versioned("older", "1.1.0", "1.36"), versioned("newer", "1.0.0", "1.37")
	s := stateOf(older, newer, picker.Candidate{Name: "none"})
	checkScores(t, OldestEmulationVersion{}, s, map[string]string{"older": "1.36", "newer": "1.37", "none": "-"})
	policy := &picker.Policy{Scores: []picker.Score{OldestEmulationVersion{}}}
	checkDecision(t, policy, s, "older", "OldestEmulationVersion")
}
