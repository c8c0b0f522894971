package simulation

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// On one thread, what has to happen at the same moment happens in the same order.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: want a number: %v", name, text, err)
	}
	return n
}

// totals are what many seeds come to.
type totals struct {
	Seeds, Failed, Terms, Denials int
	Virtual                       time.Duration
}

func (a *totals) add(b totals) {
	a.Seeds, a.Failed, a.Terms, a.Denials, a.Virtual = a.Seeds+b.Seeds, a.Failed+b.Failed, a.Terms+b.Terms, a.Denials+b.Denials, a.Virtual+b.Virtual
}

const (
	// shardVariable marks a process that plays some of the seeds.
	shardVariable = "SIMULATION_SHARD"
	totalPrefix   = "total: "
	// maxTraces bounds how many failed seeds are printed in full.
	maxTraces = 3
)

// TestSeeds plays SEEDS seeds from START on. A process plays one after the other
// on one thread, so that each does the same again; there is one for each core.
func TestSeeds(t *testing.T) {
	start, count := number(t, "START", 0), number(t, "SEEDS", seedsByDefault)
	if os.Getenv(shardVariable) != "" || count == 1 {
		playShard(t, start, count)
		return
	}
	began := time.Now()
	all := playShards(t, start, count)
	t.Logf("%d seeds, %s of cluster time, %d terms, %d denials, in %s", all.Seeds, all.Virtual.Round(time.Minute), all.Terms, all.Denials, time.Since(began).Round(time.Second))
	if all.Seeds != int(count) {
		t.Errorf("%d of %d seeds were played", all.Seeds, count)
	}
}

func playShards(t *testing.T, start, count uint64) (all totals) {
	workers := min(uint64(runtime.NumCPU()), count)
	var mu sync.Mutex
	var running sync.WaitGroup
	for i := range workers {
		from, to := start+count*i/workers, start+count*(i+1)/workers
		running.Go(func() {
			out, err := shard(t, from, to-from)
			mu.Lock()
			defer mu.Unlock()
			for line := range strings.Lines(out) {
				if text, ok := strings.CutPrefix(strings.TrimSpace(line), totalPrefix); ok {
					var some totals
					if err := json.Unmarshal([]byte(text), &some); err != nil {
						t.Errorf("%q: %v", line, err)
					}
					all.add(some)
				}
			}
			if err != nil {
				t.Errorf("seeds %d to %d: %v\n%s", from, to-1, err, out)
			}
		})
	}
	running.Wait()
	return all
}

// shard plays seeds in a process of their own.
func shard(t *testing.T, start, count uint64) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(t.Context(), program, "-test.run=^TestSeeds$", "-test.timeout=0")
	c.Env = append(os.Environ(), "GOGC=400", shardVariable+"=1", fmt.Sprint("START=", start), fmt.Sprint("SEEDS=", count))
	out, err := c.CombinedOutput()
	return string(out), err
}

func playShard(t *testing.T, start, count uint64) {
	var all totals
	for seed := start; seed < start+count; seed++ {
		r := Run(t, seed, Options{})
		some := totals{Seeds: 1, Terms: r.Terms, Denials: r.Denials, Virtual: r.Virtual}
		if len(r.Violations) > 0 {
			some.Failed = 1
			t.Errorf("%s\nagain: START=%d SEEDS=1 go test ./test/simulation -run TestSeeds -v", strings.Join(r.Violations, "\n"), seed)
			if all.Failed < maxTraces {
				t.Log("\n" + r.Trace)
			}
		} else if count == 1 {
			t.Log("\n" + r.Trace)
		}
		all.add(some)
	}
	line, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(totalPrefix + string(line))
}

// Every seed must do again what it did, or a failure could not be looked into.
func TestSeedsReproduce(t *testing.T) {
	for seed := range uint64(seedsTwice) {
		first, second := Run(t, seed, Options{}), Run(t, seed, Options{})
		if diff := cmp.Diff(strings.Split(first.Trace, "\n"), strings.Split(second.Trace, "\n")); diff != "" {
			t.Errorf("seed %d differs from itself (-first +second):\n%s", seed, diff)
		}
		if diff := cmp.Diff(first.Histories, second.Histories); diff != "" {
			t.Errorf("seed %d has other histories (-first +second):\n%s", seed, diff)
		}
	}
}

// A Lease that no policy governs must not notice that there is Leasewarden.
func TestUngovernedLeasesAreLeftAlone(t *testing.T) {
	compared := 0
	for seed := range number(t, "PAIRS", pairsByDefault) {
		name := "component-0"
		if s := draw(seed); s.components[0].policy.Load() != nil {
			continue
		}
		compared++
		with, without := Run(t, seed, Options{Instant: true}), Run(t, seed, Options{Without: true, Instant: true})
		if diff := cmp.Diff(without.Histories[name], with.Histories[name]); diff != "" {
			t.Errorf("seed %d: %s has another history (-without +with):\n%s", seed, name, diff)
		}
	}
	if compared == 0 {
		t.Error("no seed has a Lease without a policy")
	}
}

// A dry run must give the same leaders at the same times as no Leasewarden.
func TestDryRunChangesNothing(t *testing.T) {
	for seed := range number(t, "PAIRS", pairsByDefault) {
		with, without := Run(t, seed, Options{DryRun: true, Instant: true}), Run(t, seed, Options{Without: true, Instant: true})
		if diff := cmp.Diff(without.Histories, with.Histories); diff != "" {
			t.Errorf("seed %d has other histories (-without +dry run):\n%s", seed, diff)
		}
	}
}

// A simulation that finds nothing shows little: what is known to be wrong must be
// found.
func TestPlantedFaultsAreFound(t *testing.T) {
	for _, plant := range Plants {
		t.Run(string(plant), func(t *testing.T) {
			seed := find(t, plant)
			if sound := Run(t, seed, Options{}); len(sound.Violations) > 0 {
				t.Errorf("seed %d finds as much without it: %v", seed, sound.Violations)
			}
		})
	}
}

// finders are seeds that found each fault when they were last looked for. They
// are tried first, which saves a minute.
var finders = map[Plant]uint64{PlantObject: 6, PlantRelease: 4, PlantNoPassOver: 62, PlantRenewTime: 5, PlantNoTakeBack: 82}

// find is a seed of the fixed set that finds a planted fault.
func find(t *testing.T, plant Plant) uint64 {
	t.Helper()
	for i := range uint64(200) {
		seed := (finders[plant] + i) % 200
		if r := Run(t, seed, Options{Plant: plant}); len(r.Violations) > 0 {
			t.Logf("found by seed %d: %v", seed, r.Violations)
			return seed
		}
	}
	t.Fatal("no seed finds it")
	return 0
}
