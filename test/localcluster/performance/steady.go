package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// errStopped is the end of a load that was wanted.
var errStopped = errors.New("stopped")

const (
	// term and renewEvery are client-go's defaults.
	term       = 15 * time.Second
	renewEvery = 2 * time.Second
)

// measureSteady measures what Leasewarden takes while all leaders do nothing but
// renew.
func measureSteady(ctx context.Context, b *bench) error {
	if err := b.world.grow(ctx, b.steady); err != nil {
		return err
	}
	if err := b.world.setDuration(ctx, b.steady, term); err != nil {
		return err
	}
	load := b.world.renew(ctx, b.steady, renewEvery)
	err := b.lookAtSteady(ctx, load)
	if err := errors.Join(err, load.stop()); err != nil {
		return err
	}
	if err := b.world.setDuration(ctx, b.steady, resting); err != nil {
		return err
	}
	return b.uninstall(ctx)
}

func (b *bench) lookAtSteady(ctx context.Context, load *renewing) error {
	if err := b.install(ctx, 1, ""); err != nil {
		return err
	}
	if err := b.awaitPublished(ctx, b.steady); err != nil {
		return err
	}
	before, err := b.look(ctx, load)
	if err != nil {
		return err
	}
	b.say("looking at it for %s", b.window)
	select {
	case <-load.ctx.Done():
		return context.Cause(load.ctx)
	case <-time.After(b.window):
	}
	after, err := b.look(ctx, load)
	if err != nil {
		return err
	}
	return b.reportSteady(before, after)
}

// glance is what is seen at one moment.
type glance struct {
	at        time.Time
	processor time.Duration
	memory    float64
	heap      float64
	renewals  int64
	calls     calls
	audited   int64
}

func (b *bench) look(ctx context.Context, load *renewing) (g glance, err error) {
	g.renewals = load.done.Load()
	if g.calls, err = b.calls(ctx); err != nil {
		return g, err
	}
	if g.memory, g.heap, err = b.memory(); err != nil {
		return g, err
	}
	if g.audited, err = b.auditedBytes(); err != nil {
		return g, err
	}
	g.at = time.Now()
	g.processor, err = processorTime(b.leader().PID())
	return g, err
}

// memory is what the leading replica has in memory, and on its heap, in MiB.
func (b *bench) memory() (resident, heap float64, err error) {
	f, err := metrics(b.leader())
	if err != nil {
		return 0, 0, err
	}
	resident, err = memory(b.leader().PID())
	return resident, f.sum("go_memstats_heap_inuse_bytes") / (1 << 20), err
}

func (b *bench) reportSteady(before, after glance) error {
	took := after.at.Sub(before.at)
	what := fmt.Sprintf("%d Leases, %d Pods", b.steady, b.steady*replicas)
	b.report.add("4", "memory, "+what, "MiB", atMost(100), after.memory)
	b.report.add("4", "- of which on the heap", "MiB", target{}, after.heap)
	b.report.add("4", "processor, "+what, "%", atMost(2), 100*(after.processor-before.processor).Seconds()/took.Seconds())
	b.report.add("4", "- at so many renewals", "/s", target{}, float64(after.renewals-before.renewals)/took.Seconds())
	b.report.add("4", "- webhook calls", "", target{None: true}, after.calls.total-before.calls.total)
	own, other, err := b.wardenWrites(before.audited)
	if err != nil {
		return err
	}
	b.report.add("7", "renewals of our own Lease", "/s", atMost(1), float64(own)/took.Seconds())
	b.report.add("7", "other writes of ours", "", target{None: true}, float64(len(other)))
	for what, n := range count(other) {
		b.report.note("Row 7: we wrote %s %d times in %s.", what, n, took.Round(time.Second))
	}
	return nil
}

// awaitPublished waits until there are so many Elections, and nothing is
// published any more.
func (b *bench) awaitPublished(ctx context.Context, n int) error {
	said := time.Now()
	quiet := time.Now()
	requests := -1.0
	err := await(ctx, fmt.Sprintf("%d Elections to be published", n), func(ctx context.Context) (bool, error) {
		f, err := metrics(b.leader())
		if err != nil {
			return false, err
		}
		// Leasewarden renews its own Lease every 2 s.
		if now := f.sum("rest_client_requests_total"); now > requests+3 {
			requests, quiet = now, time.Now()
		}
		if time.Since(quiet) < 4*time.Second {
			if time.Since(said) > 10*time.Second {
				said = time.Now()
				b.say("publishing, after %.0f requests ...", requests)
			}
			return false, nil
		}
		published, err := b.published(ctx)
		return published >= n, err
	})
	if err == nil {
		b.say("%d Elections are published", n)
	}
	return err
}

// published is how many Elections the world has.
func (b *bench) published(ctx context.Context) (n int, err error) {
	for i := range provinces {
		list := &v1alpha1.ElectionList{}
		if err := b.client.List(ctx, list, ctrlclient.InNamespace(province(i))); err != nil {
			return 0, err
		}
		n += len(list.Items)
	}
	return n, nil
}
