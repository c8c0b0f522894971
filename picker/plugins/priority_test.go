package plugins

import (
	"math"
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/picker"
)

func TestPriority(t *testing.T) {
	checkScores(t, Priority{}, stateOf(
		picker.Candidate{Name: "none"},
		picker.Candidate{Name: "negative", Priority: -5},
		picker.Candidate{Name: "set", Priority: 7},
		picker.Candidate{Name: "largest", Priority: math.MaxInt32},
		picker.Candidate{Name: "running", Priority: 7, PriorityUntil: noon.Add(1)},
		picker.Candidate{Name: "ending now", Priority: 7, PriorityUntil: noon},
		picker.Candidate{Name: "ended", Priority: 7, PriorityUntil: noon.Add(-time.Hour)},
	), map[string]string{
		"none": "0", "negative": "0", "set": "7", "largest": "2147483647",
		"running": "7", "ending now": "0", "ended": "0",
	})
}
