package main

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

const (
	// retryLeast and retryMost are when a candidate tries again: client-go's
	// retry period of 2 s, and up to 1.2 times as much more.
	retryLeast = 2 * time.Second
	retryMost  = 4400 * time.Millisecond
	// atOnce is how many attempts are in hand at once.
	atOnce = 64
)

// measureHerd has many Leases vacant when the API server comes back, and all
// their candidates try.
func measureHerd(ctx context.Context, b *bench) error {
	if err := b.makeArenas(ctx, 1); err != nil {
		return err
	}
	if err := b.world.grow(ctx, b.herd); err != nil {
		return err
	}
	allow := b.bare("allow-all", true)
	variants := []variant{allow, b.replicas(1), b.replicas(maxReplicas)}
	seconds, strays := map[string][]float64{}, map[string][]float64{}
	var outages []float64
	restarts := 0
	err := b.playRounds(ctx, b.herds, variants, func(ctx context.Context, _ int, v *variant) error {
		h := &herd{bench: b}
		took, err := h.run(ctx)
		if err != nil {
			return err
		}
		b.say("%s: all led after %.1f s, %d by another than the oldest; %d attempts, %d refused, %d failed; %d replicas restarted",
			v.name, took.Seconds(), h.strays, h.attempts, h.refused, h.failed, h.restarted)
		outages, restarts = append(outages, h.outage.Seconds()), restarts+h.restarted
		seconds[v.name], strays[v.name] = append(seconds[v.name], took.Seconds()), append(strays[v.name], float64(h.strays))
		return nil
	})
	if err != nil {
		return err
	}
	b.report.add("6", fmt.Sprintf("herd of %d, allow-all", b.herd), "s", target{}, seconds[allow.name]...)
	for _, v := range variants[1:] {
		b.report.addBeside("6", "herd, "+v.name, "s", atMost(1.2), seconds[v.name], allow.name, seconds[allow.name])
		b.report.add("6", "- led by another than the chosen", "", target{None: true}, strays[v.name]...)
	}
	b.report.note("Row 6: the API server was away for %s s, up to %s s; %d replicas of Leasewarden ended meanwhile and were started anew.",
		number(newResult(outages).Median), number(slices.Max(outages)), restarts)
	return nil
}

// replicas is Leasewarden with so many replicas, behind one address that
// connections are spread over.
func (b *bench) replicas(n int) variant {
	return variant{
		name: fmt.Sprintf("Leasewarden, %d %s", n, plural(n, "replica", "replicas")),
		on: func(ctx context.Context) error {
			if err := b.governArenas(ctx, 1); err != nil {
				return err
			}
			if err := b.install(ctx, n, ""); err != nil {
				return err
			}
			return b.awaitEffect(ctx, true, arena(0))
		},
		off: b.uninstall,
	}
}

// herd is one outage and what follows.
type herd struct {
	*bench

	mu   sync.Mutex
	due  queue
	led  int
	last time.Time
	// strays are Leases that another than the oldest candidate leads.
	strays, attempts, refused, failed int
	// restarted are the replicas that ended in the outage.
	restarted int
	outage    time.Duration
}

// attempt is when a candidate tries to acquire a Lease.
type attempt struct {
	at               time.Time
	lease, candidate int
}

// run returns how long it took from when the API server answered until every
// Lease had a leader.
func (h *herd) run(ctx context.Context) (time.Duration, error) {
	err := h.world.eachLease(ctx, "Leases vacant", h.bench.herd, func(l *coordinationv1.Lease, _ int) { l.Spec.HolderIdentity = nil })
	if err != nil {
		return 0, err
	}
	defer h.keepRunning()()
	killed := time.Now()
	if err := h.cluster.SignalComponent(localcluster.APIServer, syscall.SIGKILL); err != nil {
		return 0, err
	}
	if err := h.cluster.StartComponent(ctx, localcluster.APIServer); err != nil {
		return 0, err
	}
	if err := h.reconnect(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	h.outage = start.Sub(killed)
	for i := range h.bench.herd {
		for j := range replicas {
			// All have been trying for a while, each at a time of its own.
			h.due = append(h.due, attempt{start.Add(rand.N(retryMost)), i, j})
		}
	}
	heap.Init(&h.due)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var trying sync.WaitGroup
	for range atOnce {
		trying.Go(func() { h.try(ctx) })
	}
	trying.Wait()
	if h.led < h.bench.herd {
		return 0, fmt.Errorf("after %s, %d of %d Leases have a leader", patience, h.led, h.bench.herd)
	}
	return h.last.Sub(start), nil
}

// keepRunning starts the replicas that run now anew if they end, as the kubelet
// does: the one that writes ends if the API server stays away for too long.
func (h *herd) keepRunning() (stop func()) {
	var running []*installation.Replica
	for _, r := range h.warden.Replicas {
		if r.Running() {
			running = append(running, r)
		}
	}
	done := make(chan struct{})
	var keeping sync.WaitGroup
	keeping.Go(func() {
		for ticker := time.Tick(poll); ; {
			select {
			case <-done:
				return
			case <-ticker:
			}
			for _, r := range running {
				if !r.Running() && r.Start() == nil {
					h.restarted++
				}
			}
		}
	})
	return func() {
		close(done)
		keeping.Wait()
	}
}

// reconnect finds the API server again: what was connected to it before is not.
func (h *herd) reconnect(ctx context.Context) error {
	return await(ctx, "the API server to be back", func(ctx context.Context) (bool, error) {
		_, err := h.kube.CoordinationV1().Leases(province(0)).Get(ctx, leaseName(0), metav1.GetOptions{})
		return err == nil, nil
	})
}

// try makes one attempt after the other until all Leases are led.
func (h *herd) try(ctx context.Context) {
	for {
		a, ok := h.take()
		if !ok || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(a.at)):
		}
		h.took(a, h.acquireOnce(ctx, a))
	}
}

// outcome is what becomes of an attempt.
type outcome int

const (
	acquired outcome = iota
	// follows: somebody else leads, for a long time.
	follows
	refused
	failed
)

// acquireOnce does as client-go's elector: it reads, and writes if nobody holds
// the Lease.
func (h *herd) acquireOnce(ctx context.Context, a attempt) outcome {
	leases := h.kube.CoordinationV1().Leases(province(a.lease))
	lease, err := leases.Get(ctx, leaseName(a.lease), metav1.GetOptions{})
	switch {
	case err != nil:
		return failed
	case holderOf(lease) != "":
		return follows
	}
	take(lease, identity(leaseName(a.lease), a.candidate))
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	switch {
	case err == nil:
		return acquired
	case strings.Contains(err.Error(), "denied the request"):
		return refused
	}
	return failed
}

// take takes the attempt that is due next.
func (h *herd) take() (attempt, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.led == h.bench.herd || len(h.due) == 0 {
		return attempt{}, false
	}
	return heap.Pop(&h.due).(attempt), true
}

// took notes what became of an attempt, and whether there will be another one.
func (h *herd) took(a attempt, o outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attempts++
	switch o {
	case acquired:
		h.led, h.last = h.led+1, time.Now()
		if a.candidate != 0 {
			h.strays++
		}
		return
	case follows:
		return
	case refused:
		h.refused++
	case failed:
		h.failed++
	}
	a.at = time.Now().Add(retryLeast + rand.N(retryMost-retryLeast))
	heap.Push(&h.due, a)
}

// queue is a heap of attempts, the earliest first.
type queue []attempt

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(attempt)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	a := (*q)[last]
	*q = (*q)[:last]
	return a
}
