package plugins

import (
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func TestNewestVersionStrategy(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.NewestVersion})
	runSteps(t, policy, []step{
		{"the newest binary", []picker.Candidate{versioned("a", "1.2.9", ""), versioned("b", "1.2.10", "")},
			"b", NewestBinaryVersionName},
		{"whatever it emulates", []picker.Candidate{versioned("a", "1.2.9", "1.2"), versioned("b", "1.2.10", "none")},
			"b", NewestBinaryVersionName},
		{"an image tag that is no version", []picker.Candidate{versioned("a", "1.2.9", ""), versioned("b", "latest", "")},
			"a", picker.CriterionOnlyCandidate},
	})
}
