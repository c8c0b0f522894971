package simulation

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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

func TestSeeds(t *testing.T) {
	start, count := number(t, "START", 0), number(t, "SEEDS", 3)
	for seed := start; seed < start+count; seed++ {
		r := Run(t, seed, Options{})
		t.Logf("seed %d: %s, %d terms, %d denials", seed, r.Virtual, r.Terms, r.Denials)
		if os.Getenv("TRACE") != "" {
			t.Log(r.Trace)
		}
		if len(r.Violations) > 0 {
			t.Errorf("seed %d: %v\n%s", seed, r.Violations, r.Trace)
		}
	}
}

// Every seed must do again what it did, or a failure could not be looked into.
func TestSeedsReproduce(t *testing.T) {
	for seed := range uint64(20) {
		first, second := Run(t, seed, Options{}), Run(t, seed, Options{})
		if diff := cmp.Diff(strings.Split(first.Trace, "\n"), strings.Split(second.Trace, "\n")); diff != "" {
			t.Errorf("seed %d differs from itself (-first +second):\n%s", seed, diff)
		}
		if diff := cmp.Diff(first.Histories, second.Histories); diff != "" {
			t.Errorf("seed %d has other histories (-first +second):\n%s", seed, diff)
		}
	}
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for _, plant := range Plants {
		t.Run(string(plant), func(t *testing.T) {
			for seed := range uint64(200) {
				if r := Run(t, seed, Options{Plant: plant}); len(r.Violations) > 0 {
					t.Logf("found by seed %d: %v", seed, r.Violations)
					return
				}
			}
			t.Error("no seed finds it")
		})
	}
}
