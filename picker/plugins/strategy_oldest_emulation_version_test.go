package plugins

import (
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func created(c picker.Candidate, at time.Time) picker.Candidate {
	c.Created = at
	return c
}

// The cases of upstream's own tests of this strategy (kubernetes v1.37.2,
// pkg/controlplane/controller/leaderelection/election_test.go).
func TestOldestEmulationVersionIsUpstreams(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion})
	hourAgo := noon.Add(-time.Hour)
	tests := []struct {
		name       string
		candidates []picker.Candidate
		chosen     string
		criterion  string
	}{
		// TestPickBestLeaderOldestEmulationVersion
		{"empty", nil, "", ""},
		{"single candidate", []picker.Candidate{versioned("1", "0.1.0", "0.1.0")}, "1", picker.CriterionOnlyCandidate},
		{"different emulation versions", []picker.Candidate{
			created(versioned("1", "0.1.0", "0.1.0"), hourAgo),
			versioned("2", "0.2.0", "0.2.0"),
		}, "1", OldestEmulationVersionName},
		{"same emulation, different binary versions", []picker.Candidate{
			created(versioned("1", "0.1.0", "0.1.0"), hourAgo),
			versioned("2", "0.2.0", "0.1.0"),
		}, "1", OldestBinaryVersionName},
		{"same versions, different ages", []picker.Candidate{
			created(versioned("1", "0.1.0", "0.1.0"), hourAgo),
			versioned("2", "0.1.0", "0.1.0"),
		}, "1", picker.CriterionOldest},

		// TestValidLeaseCandidateForOldestEmulationVersion
		{"valid versions", []picker.Candidate{versioned("1", "0.1.0", "0.1.0")}, "1", picker.CriterionOnlyCandidate},
		{"invalid emulation version", []picker.Candidate{versioned("1", "0.1.0", "invalid")}, "", ""},
		{"invalid binary version", []picker.Candidate{versioned("1", "invalid", "0.1.0")}, "", ""},

		// TestCompare, with candidate 1 for its left and 2 for its right side.
		// Where upstream's order alone would put an invalid version first, its
		// pick has removed it before, as ours has.
		{"identical versions, 2 is older", []picker.Candidate{
			created(versioned("1", "1.21.0", "1.20.0"), noon.Add(1)),
			versioned("2", "1.21.0", "1.20.0"),
		}, "2", picker.CriterionOldest},
		{"1 has no version", []picker.Candidate{{Name: "1"}, versioned("2", "1.21.0", "1.20.0")},
			"2", picker.CriterionOnlyCandidate},
		{"2 has no version", []picker.Candidate{versioned("1", "1.21.0", "1.20.0"), {Name: "2"}},
			"1", picker.CriterionOnlyCandidate},
		{"1 has an invalid version", []picker.Candidate{versioned("1", "xyz", "xyz"), versioned("2", "1.21.0", "1.20.0")},
			"2", picker.CriterionOnlyCandidate},
		{"2 has an invalid version", []picker.Candidate{versioned("1", "1.21.0", "1.20.0"), versioned("2", "xyz", "xyz")},
			"1", picker.CriterionOnlyCandidate},
		{"1 is less than 2", []picker.Candidate{versioned("1", "1.20.0", "1.19.0"), versioned("2", "1.20.0", "1.20.0")},
			"1", OldestEmulationVersionName},
		{"2 is less than 1", []picker.Candidate{versioned("1", "1.20.0", "1.20.0"), versioned("2", "1.20.0", "1.19.0")},
			"2", OldestEmulationVersionName},
		{"numbers are no strings", []picker.Candidate{versioned("1", "1.20.0", "1.2.0"), versioned("2", "1.20.0", "1.19.0")},
			"1", OldestEmulationVersionName},

		// TestShouldReelect, with candidate 1 as the leader: it stays.
		{"a newer binary version", []picker.Candidate{versioned("1", "1.19.0", "1.19.0"), versioned("2", "1.20.0", "1.19.0")},
			"1", OldestBinaryVersionName},
		{"no newer candidates", []picker.Candidate{versioned("1", "1.19.0", "1.19.0"), versioned("2", "1.19.0", "1.19.0")},
			"1", picker.CriterionOldest},
		{"no candidates", nil, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkDecision(t, policy, stateOf(test.candidates...), test.chosen, test.criterion)
		})
	}
}

// step is one moment of a scenario.
type step struct {
	what       string
	candidates []picker.Candidate
	chosen     string
	criterion  string
}

func runSteps(t *testing.T, policy *picker.Policy, steps []step) {
	t.Helper()
	for _, s := range steps {
		t.Run(s.what, func(t *testing.T) {
			checkDecision(t, policy, stateOf(s.candidates...), s.chosen, s.criterion)
		})
	}
}

// KEP-4355, rolling upgrade of three control plane nodes from 1.36 to 1.37 and
// back: while any instance emulates 1.36, one of those leads.
func TestKEP4355RollingUpgrade(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion})
	old := func(name string) picker.Candidate { return versioned(name, "v1.36.3", "1.36.0") }
	// An upgraded instance emulates the old release until it is told otherwise.
	upgraded := func(name string) picker.Candidate { return versioned(name, "v1.37.2", "1.36.0") }
	finished := func(name string) picker.Candidate { return versioned(name, "v1.37.2", "1.37.0") }

	t.Run("with emulation", func(t *testing.T) {
		runSteps(t, policy, []step{
			{"before", []picker.Candidate{old("a"), old("b"), old("c")}, "a", picker.CriterionOldest},
			{"a is down", []picker.Candidate{old("b"), old("c")}, "b", picker.CriterionOldest},
			{"a is upgraded", []picker.Candidate{upgraded("a"), old("b"), old("c")}, "b", picker.CriterionOldest},
			{"b is upgraded", []picker.Candidate{upgraded("a"), upgraded("b"), old("c")}, "c", OldestBinaryVersionName},
			{"c is upgraded", []picker.Candidate{upgraded("a"), upgraded("b"), upgraded("c")}, "a", picker.CriterionOldest},
			{"a ends its emulation", []picker.Candidate{finished("a"), upgraded("b"), upgraded("c")}, "b", picker.CriterionOldest},
			{"b ends its emulation", []picker.Candidate{finished("a"), finished("b"), upgraded("c")}, "c", OldestEmulationVersionName},
			{"c ends its emulation", []picker.Candidate{finished("a"), finished("b"), finished("c")}, "a", picker.CriterionOldest},
		})
	})
	t.Run("without emulation", func(t *testing.T) {
		runSteps(t, policy, []step{
			{"a is upgraded", []picker.Candidate{finished("a"), old("b"), old("c")}, "b", picker.CriterionOldest},
			{"b is upgraded", []picker.Candidate{finished("a"), finished("b"), old("c")}, "c", OldestEmulationVersionName},
			{"c is upgraded", []picker.Candidate{finished("a"), finished("b"), finished("c")}, "a", picker.CriterionOldest},
		})
	})
	t.Run("rollback", func(t *testing.T) {
		runSteps(t, policy, []step{
			{"before", []picker.Candidate{finished("a"), finished("b"), finished("c")}, "a", picker.CriterionOldest},
			{"c emulates the old release", []picker.Candidate{finished("a"), finished("b"), upgraded("c")}, "c", OldestEmulationVersionName},
			{"b too", []picker.Candidate{finished("a"), upgraded("b"), upgraded("c")}, "b", picker.CriterionOldest},
			{"a too", []picker.Candidate{upgraded("a"), upgraded("b"), upgraded("c")}, "a", picker.CriterionOldest},
			{"c is rolled back", []picker.Candidate{upgraded("a"), upgraded("b"), old("c")}, "c", OldestBinaryVersionName},
			{"b is rolled back", []picker.Candidate{upgraded("a"), old("b"), old("c")}, "b", picker.CriterionOldest},
			{"a is rolled back", []picker.Candidate{old("a"), old("b"), old("c")}, "a", picker.CriterionOldest},
		})
	})
	t.Run("vendors' builds", func(t *testing.T) {
		runSteps(t, policy, []step{
			{"gke", []picker.Candidate{
				versioned("a", "v1.31.4-gke.1183000", ""), versioned("b", "v1.31.4-gke.999000", ""), versioned("c", "v1.32.0-gke.1", ""),
			}, "b", OldestEmulationVersionName},
			{"eks builds of one release have no order", []picker.Candidate{
				versioned("a", "v1.30.2-eks-1552ad0", ""), versioned("b", "v1.30.2-eks-0052ad1", ""),
			}, "a", picker.CriterionOldest},
			{"a release candidate is older than the release", []picker.Candidate{
				versioned("a", "v1.38.0", ""), versioned("b", "v1.38.0-rc.1", ""),
			}, "b", OldestEmulationVersionName},
		})
	})
}
