package simulation

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// maxTraces bounds how many failed seeds a process prints in full.
const maxTraces = 3

// doomedSeed is one in which there is much to write.
const doomedSeed = 112

// TestSeeds plays SEEDS seeds from START on.
func TestSeeds(t *testing.T) {
	count := number(t, "SEEDS", seedsByDefault)
	apart(t, number(t, "START", 0), count, func(t *testing.T, seed uint64, sum *totals) {
		r := Run(t, seed, Options{})
		sum.count(r)
		if len(r.Violations) > 0 {
			t.Errorf("%s\nagain: START=%d SEEDS=1 go test ./test/simulation -run 'TestSeeds$' -v", strings.Join(r.Violations, "\n"), seed)
		}
		if count == 1 || len(r.Violations) > 0 && sum.Failed <= maxTraces {
			t.Log("\n" + r.Trace)
		}
	})
}

// Every seed must do again what it did, or a failure could not be looked into:
// also on several threads, where what happens at the same moment happens in
// another order, as it does on a machine that is busy.
func TestSeedsReproduce(t *testing.T) {
	apart(t, number(t, "TWICE_START", 0), number(t, "TWICE", seedsTwice), func(t *testing.T, seed uint64, sum *totals) {
		first := Run(t, seed, Options{})
		one := runtime.GOMAXPROCS(4)
		second := Run(t, seed, Options{})
		runtime.GOMAXPROCS(one)
		sum.count(first)
		if diff := cmp.Diff(strings.Split(first.Trace, "\n"), strings.Split(second.Trace, "\n")); diff != "" {
			t.Errorf("seed %d differs from itself (-first +second):\n%s", seed, diff)
		}
		if diff := cmp.Diff(first.Histories, second.Histories); diff != "" {
			t.Errorf("seed %d has other histories (-first +second):\n%s", seed, diff)
		}
	})
}

// A Lease that no policy governs must not notice that there is Leasewarden.
func TestUngovernedLeasesAreLeftAlone(t *testing.T) {
	compareLeases(t, func(c *component) bool { return c.policy.Load() == nil })
}

// Nor must one whose election the API server coordinates, whatever policy there is,
// but for one that asks for no election at all while nobody can be asked.
func TestCoordinatedLeasesAreLeftAlone(t *testing.T) {
	compareLeases(t, func(c *component) bool {
		p := c.policy.Load()
		return c.coordinated && p != nil && p.FailurePolicy != v1alpha1.Fail
	})
}

// compareLeases compares the histories that a kind of Leases has with Leasewarden
// and without.
func compareLeases(t *testing.T, of func(*component) bool) {
	apart(t, 0, number(t, "PAIRS", pairsByDefault), func(t *testing.T, n uint64, sum *totals) {
		seed, names := seedWith(n, of)
		with, without := Run(t, seed, Options{Instant: true}), Run(t, seed, Options{Without: true, Instant: true})
		sum.count(with)
		end := min(with.Virtual, without.Virtual) // upgrades of other components may take longer
		for _, name := range names {
			if diff := cmp.Diff(without.history(name, end), with.history(name, end)); diff != "" {
				t.Errorf("seed %d: %s has another history (-without +with):\n%s", seed, name, diff)
			}
		}
	})
}

// seedWith is the n-th seed that has components of a kind, and their names.
func seedWith(n uint64, of func(*component) bool) (seed uint64, names []string) {
	for ; ; seed++ {
		s := draw(seed)
		names = nil
		for _, c := range s.components {
			if of(c) {
				names = append(names, c.name)
			}
		}
		if len(names) == 0 || s.crowded {
			continue
		}
		if n == 0 {
			return seed, names
		}
		n--
	}
}

// A dry run must give the same leaders at the same times as no Leasewarden.
func TestDryRunChangesNothing(t *testing.T) {
	apart(t, 0, number(t, "PAIRS", pairsByDefault), func(t *testing.T, seed uint64, sum *totals) {
		with, without := Run(t, seed, Options{DryRun: true, Instant: true}), Run(t, seed, Options{Without: true, Instant: true})
		sum.count(with)
		if diff := cmp.Diff(without.Histories, with.Histories); diff != "" {
			t.Errorf("seed %d has other histories (-without +dry run):\n%s", seed, diff)
		}
	})
}

// Whatever the replica that writes was about to write when it died, the others
// must be able to go on.
func TestWriterDiesAtEveryWrite(t *testing.T) {
	apart(t, 0, number(t, "WRITES", writesByDefault), func(t *testing.T, n uint64, sum *totals) {
		o := Options{DieAt: 1 + int(n/2), Applied: n%2 == 1}
		r := Run(t, doomedSeed, o)
		sum.count(r)
		if len(r.Violations) > 0 {
			t.Errorf("write %d, applied %t: %s\n%s", o.DieAt, o.Applied, strings.Join(r.Violations, "\n"), r.Trace)
		}
		if !r.Died {
			t.Errorf("there was no write %d; take another seed", o.DieAt)
		}
	})
}

// A simulation that finds nothing shows little: what is known to be wrong must be
// found.
func TestPlantedFaultsAreFound(t *testing.T) {
	apart(t, 0, uint64(len(Plants)), func(t *testing.T, n uint64, sum *totals) {
		plant := Plants[n]
		seed := find(t, plant, sum)
		if sound := findings(t, seed, "", plant, sum); len(sound) > 0 {
			t.Errorf("%s: seed %d finds as much without it: %v", plant, seed, sound)
		}
	})
}

// finders are seeds that found each fault when they were last looked for. They
// are tried first, which saves a minute.
var finders = map[Plant]uint64{PlantObject: 6, PlantRelease: 48, PlantNoPassOver: 77, PlantRenewTime: 6, PlantNoTakeBack: 84}

// find is a seed of the fixed set that finds a planted fault.
func find(t *testing.T, plant Plant, sum *totals) uint64 {
	t.Helper()
	for i := range uint64(200) {
		seed := (finders[plant] + i) % 200
		if found := findings(t, seed, plant, plant, sum); len(found) > 0 {
			t.Logf("%s is found by seed %d: %v", plant, seed, found)
			return seed
		}
	}
	t.Fatalf("%s is not found by any seed", plant)
	return 0
}

// findings are what a seed finds with a fault planted, where one of a kind is
// looked for.
func findings(t *testing.T, seed uint64, plant, kind Plant, sum *totals) []string {
	if kind != PlantDryRun {
		r := Run(t, seed, Options{Plant: plant})
		sum.count(r)
		return r.Violations
	}
	with, without := Run(t, seed, Options{Plant: plant, DryRun: true, Instant: true}), Run(t, seed, Options{Without: true, Instant: true})
	sum.count(with)
	if cmp.Equal(without.Histories, with.Histories) {
		return nil
	}
	return []string{"the histories are others"}
}
