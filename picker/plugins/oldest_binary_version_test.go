package plugins

import (
	"testing"

	"github.com/leasewarden/leasewarden/picker"
)

func TestOldestBinaryVersion(t *testing.T) {
	older, newer := versioned("older", "1.36", "1.1.0"), versioned("newer", "1.37", "1.0.0")
	s := stateOf(older, newer, picker.Candidate{Name: "none"})
	checkScores(t, OldestBinaryVersion{}, s, map[string]string{"older": "1.36", "newer": "1.37", "none": "-"})
	policy := &picker.Policy{Scores: []picker.Score{OldestBinaryVersion{}}}
	checkDecision(t, policy, s, "older", "OldestBinaryVersion")
}
