package main

import (
	"context"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// kill is a leader that is killed and releases nothing.
var kill = &scenario{
	name: "kill", title: "The leader is killed (SIGKILL) in its Pod",
	prepare: func(ctx context.Context, l *lane) error {
		if err := l.govern(ctx, v1alpha1.FirstCome, v1alpha1.Preemption{}); err != nil {
			return err
		}
		return l.deploy(ctx, keeps, slowStart)
	},
	round: func(ctx context.Context, l *lane) ([]float64, error) {
		if err := l.atRandom(ctx); err != nil {
			return nil, err
		}
		identity, err := l.holder(ctx)
		if err != nil {
			return nil, err
		}
		released, err := l.released(ctx, identity)
		if err != nil {
			return nil, err
		}
		killed, err := l.cluster.KillContainer(l.namespace, podOf(identity), container)
		if err != nil {
			return nil, err
		}
		at := released()
		next, err := l.next(ctx, killed, "")
		if at.IsZero() {
			return []float64{next.At.Sub(killed).Seconds(), none, none}, err
		}
		return []float64{next.At.Sub(killed).Seconds(), at.Sub(killed).Seconds(), next.At.Sub(at).Seconds()}, err
	},
	figures: []figure{
		{name: "leader killed: next one leads", unit: seconds, target: target{median: 3, worst: 5}},
		{name: "- until the Lease is released", unit: seconds},
		{name: "- then until the next leads", unit: seconds},
	},
}
