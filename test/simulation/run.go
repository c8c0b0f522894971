package simulation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// Options say how a seed is played.
type Options struct {
	// Without has Leasewarden not installed, DryRun all policies in that mode.
	Without, DryRun bool
	// Instant has the webhook answer at once or not at all, so that a run can be
	// compared with one that has none.
	Instant bool
	// Plant plants a fault.
	Plant Plant
	// DieAt has the first replica that writes die at its write of that number,
	// its own Lease not counted: after it was applied if Applied says so, or else
	// before. 0: it does not.
	DieAt   int
	Applied bool
}

// Result is what came of a seed.
type Result struct {
	Seed uint64
	// Violations say what did not hold.
	Violations []string
	// Trace is what happened.
	Trace string
	// Histories are all writes to the Leases, by component.
	Histories map[string][]string
	// Virtual is how much time has passed in the simulation, Terms how often
	// somebody began to lead, Denials how many writes were denied.
	Virtual        time.Duration
	Terms, Denials int
	// Died reports whether there was a write for DieAt.
	Died bool

	start time.Time
}

// history is that of a component's Lease, until some time after the start.
func (r *Result) history(name string, end time.Duration) []string {
	last := r.start.Add(end).UTC().Format(time.StampNano)
	all := r.Histories[name]
	n, _ := slices.BinarySearchFunc(all, last, func(line, last string) int { return strings.Compare(line[:len(last)], last) })
	return all[:n]
}

// Run plays a seed.
func Run(t *testing.T, seed uint64, o Options) *Result {
	t.Helper()
	prepare()
	api.DeterministicJitter(seed)
	var result *Result
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(ctx, draw(seed), o)
		w.describe()
		go w.watchdog.watch()
		w.play()
		result = w.result()
		cancel()
		w.end()
	})
	return result
}

var prepare = sync.OnceFunc(func() {
	utilruntime.ErrorHandlers = nil // one of them sleeps, by a clock of all runs
	klog.SetLogger(logr.Discard())
	ctrllog.SetLogger(logr.Discard())
})

// describe begins the trace with what the seed decided.
func (w *world) describe() {
	w.trace.add("seed %d: %d kube-apiservers, trouble for %s", w.seed, w.scenario.frontends, w.chaos)
	for _, c := range w.components {
		policy := "no policy"
		if p := c.policy.Load(); p != nil {
			policy = fmt.Sprintf("%s, preempt %s, min %s, cooldown %s", p.Strategy.Name, p.Preemption.When,
				p.Preemption.MinTerm.Duration, p.Preemption.Cooldown.Duration)
		}
		w.trace.add("%s: %d candidates, %s/%s/%s, release %t, coordinated %t, bound tokens %t, strips annotations %t; %s", c.name, c.candidates,
			c.timing.lease, c.timing.renew, c.timing.retry, c.release, c.coordinated, c.bound, c.strip, policy)
	}
}

func (w *world) result() *Result {
	w.watchdog.mu.Lock()
	defer w.watchdog.mu.Unlock()
	r := &Result{Seed: w.seed, Violations: w.watchdog.violations, Trace: w.trace.String(), Histories: map[string][]string{}, Virtual: time.Since(w.trace.start), start: w.trace.start}
	w.mu.Lock()
	r.Died = w.died
	w.mu.Unlock()
	for name, l := range w.watchdog.leases {
		r.Histories[name] = l.history
		r.Denials += l.denials
		r.Terms += l.terms
	}
	return r
}

// end ends all that runs.
func (w *world) end() {
	for _, c := range w.components {
		for _, p := range w.podsOf(c) {
			p.delete()
			p.crash()
		}
	}
	for _, r := range w.replicas {
		r.kill(0)
	}
	time.Sleep(dyingOut)
}

// dyingOut is longer than anything that still sleeps when all ends.
const dyingOut = 15 * time.Minute
