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
)

// A process plays on one thread: there is one for each core.
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

// count takes up what came of a seed.
func (a *totals) count(r *Result) {
	some := totals{Seeds: 1, Terms: r.Terms, Denials: r.Denials, Virtual: r.Virtual}
	if len(r.Violations) > 0 {
		some.Failed = 1
	}
	a.add(some)
}

const (
	// fromVariable and toVariable mark a process that plays some of a test.
	fromVariable, toVariable = "SIMULATION_FROM", "SIMULATION_TO"
	totalPrefix              = "total: "
)

// cores has one process play on each core.
var cores = make(chan struct{}, runtime.NumCPU())

// apart has play called with each number from start on, count of them, one after
// the other in processes of their own: as many at once as there are cores, all
// tests together. play adds what it played to the totals.
func apart(t *testing.T, start, count uint64, play func(t *testing.T, n uint64, sum *totals)) {
	t.Helper()
	if os.Getenv(fromVariable) != "" {
		playHere(t, number(t, fromVariable, 0), number(t, toVariable, 0), play)
		return
	}
	if count == 1 {
		playHere(t, start, start+1, play)
		return
	}
	t.Parallel()
	began := time.Now()
	all := playApart(t, start, count)
	t.Logf("%d runs, %s of cluster time, %d terms, %d denials, in %s", all.Seeds, all.Virtual.Round(time.Minute), all.Terms, all.Denials, time.Since(began).Round(time.Second))
	if all.Seeds < int(count) {
		t.Errorf("%d runs, want at least %d", all.Seeds, count)
	}
}

func playHere(t *testing.T, from, to uint64, play func(t *testing.T, n uint64, sum *totals)) {
	var all totals
	for n := from; n < to; n++ {
		play(t, n, &all)
	}
	line, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(totalPrefix + string(line))
}

// maxShard bounds how many runs one process has: what it remembers grows.
const maxShard = 500

func playApart(t *testing.T, start, count uint64) (all totals) {
	size := min(maxShard, max(1, count/(4*uint64(cap(cores)))))
	var mu sync.Mutex
	var running sync.WaitGroup
	for from := start; from < start+count; from += size {
		to := min(from+size, start+count)
		running.Go(func() {
			cores <- struct{}{}
			defer func() { <-cores }()
			out, err := shard(t, from, to)
			mu.Lock()
			defer mu.Unlock()
			all.add(totalOf(t, out))
			if err != nil {
				t.Errorf("%d to %d: %v\n%s", from, to-1, err, out)
			}
		})
	}
	running.Wait()
	return all
}

// shard plays some of the test in a process of its own.
func shard(t *testing.T, from, to uint64) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.timeout=0")
	// On one thread, to interrupt a goroutine for another one is of no use, and
	// costs a quarter of the time on a machine that is busy.
	c.Env = append(os.Environ(), "GOGC=400", "GODEBUG=asyncpreemptoff=1", fmt.Sprintf("%s=%d", fromVariable, from), fmt.Sprintf("%s=%d", toVariable, to))
	out, err := c.CombinedOutput()
	return string(out), err
}

// totalOf is what a process says that it played.
func totalOf(t *testing.T, out string) (sum totals) {
	for line := range strings.Lines(out) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), totalPrefix)
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), &sum); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	return sum
}
