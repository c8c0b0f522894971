package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// size is what was measured at one number of Leases.
type size struct {
	leases       int
	ready        float64 // s
	memory, heap float64 // MiB
}

// measureGrowth measures the smaller numbers of Leases.
func measureGrowth(ctx context.Context, b *bench) error {
	for _, n := range append([]int{b.steady}, b.few...) {
		if _, err := b.measureSize(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// measureScale measures the largest number, alone and with others.
func measureScale(ctx context.Context, b *bench) error {
	alone, err := b.measureSize(ctx, b.many)
	if err != nil {
		return err
	}
	if err := b.world.addOthers(ctx, b.others); err != nil {
		return err
	}
	all, err := b.start(ctx, b.many)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("and %d other Pods", b.others)
	b.report.addBeside("5", "memory, "+name, "MiB", target{}, []float64{all.memory}, "without the others", []float64{alone.memory})
	b.report.add("5", "ready after, "+name, "s", atMost(10), all.ready)
	return nil
}

// measureSize measures one number of Leases. It adds to the figures and to the
// curves.
func (b *bench) measureSize(ctx context.Context, n int) (size, error) {
	if err := b.world.grow(ctx, n); err != nil {
		return size{}, err
	}
	if err := b.publish(ctx, n); err != nil {
		return size{}, err
	}
	s, err := b.start(ctx, n)
	if err != nil {
		return s, err
	}
	b.report.add("5", fmt.Sprintf("memory, %d Leases, %d Pods", n, n*replicas), "MiB", atMost(300), s.memory)
	b.report.add("5", fmt.Sprintf("ready after, %d Leases", n), "s", atMost(10), s.ready)
	b.world.measured = append(b.world.measured, s)
	return s, nil
}

// start starts Leasewarden, and looks at it once it has nothing more to publish.
func (b *bench) start(ctx context.Context, n int) (s size, err error) {
	started := time.Now()
	if err := b.startReplicas(1, ""); err != nil {
		return s, err
	}
	if err := b.leader().AwaitReady(ctx); err != nil {
		return s, err
	}
	s.leases, s.ready = n, time.Since(started).Seconds()
	if err := b.awaitPublished(ctx, n); err != nil {
		return s, err
	}
	if s.memory, s.heap, err = b.memory(); err != nil {
		return s, err
	}
	b.say("%d Leases: ready after %.1f s, %.0f MiB, %.0f MiB of it on the heap", n, s.ready, s.memory, s.heap)
	return s, b.uninstall(ctx)
}

// publish makes the Elections that are missing as Leasewarden would, which takes
// its time to do so: a copy of one that it made, by the same field manager.
func (b *bench) publish(ctx context.Context, n int) error {
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Election"))
	if err := b.client.Get(ctx, ctrlclient.ObjectKey{Namespace: province(0), Name: leaseName(0)}, made); err != nil {
		// None yet: Leasewarden publishes all.
		return ctrlclient.IgnoreNotFound(err)
	}
	from, err := b.published(ctx)
	if err != nil {
		return err
	}
	model, err := json.Marshal(map[string]any{
		"apiVersion": made.GetAPIVersion(), "kind": made.GetKind(),
		"metadata": map[string]any{"name": leaseName(0), "namespace": province(0), "labels": made.GetLabels()}, "status": made.Object["status"],
	})
	if err != nil {
		return err
	}
	return b.each(ctx, "Elections, as Leasewarden publishes them", n-from, func(ctx context.Context, i int) error {
		return b.publishOne(ctx, from+i, string(model))
	})
}

func (b *bench) publishOne(ctx context.Context, i int, model string) error {
	text := strings.NewReplacer(leaseName(0)+`"`, leaseName(i)+`"`, leaseName(0)+"-", leaseName(i)+"-", `"`+province(0)+`"`, `"`+province(i)+`"`).Replace(model)
	for _, status := range []bool{false, true} {
		election := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(text), election); err != nil {
			return err
		}
		configuration := ctrlclient.ApplyConfigurationFromUnstructured(election)
		var err error
		if status {
			election.SetLabels(nil)
			err = b.client.Status().Apply(ctx, configuration, ctrlclient.FieldOwner(leasewarden), ctrlclient.ForceOwnership)
		} else {
			delete(election.Object, "status")
			err = b.client.Apply(ctx, configuration, ctrlclient.FieldOwner(leasewarden), ctrlclient.ForceOwnership)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reportCurves draws the sizes, and says how even the growth is.
func (b *bench) reportCurves() {
	if len(b.world.measured) < 2 {
		return
	}
	memory := &curve{Title: "Memory of one replica", X: "governed Leases, with three Pods each", Y: "MiB", Limit: 300}
	ready := &curve{Title: "From its start until it is ready", X: "governed Leases, with three Pods each", Y: "s", Limit: 10}
	for _, s := range b.world.measured {
		memory.Points = append(memory.Points, point{float64(s.leases), s.memory})
		ready.Points = append(ready.Points, point{float64(s.leases), s.ready})
	}
	b.report.Curves = append(b.report.Curves, memory, ready)
	if sizes := b.world.measured; len(sizes) > 2 {
		first, middle, last := sizes[0], sizes[len(sizes)-2], sizes[len(sizes)-1]
		slope := func(a, b size) float64 { return 1024 * (b.memory - a.memory) / float64(b.leases-a.leases) }
		b.report.note("Row 5: each Lease with its Pods takes %s KiB from %d to %d Leases, and %s KiB from there to %d.",
			number(slope(first, middle)), first.leases, middle.leases, number(slope(middle, last)), last.leases)
	}
}
