package main

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// warmUp are the first writes after a change, which are not measured.
const warmUp = 20

// measureRenewals measures a renewal by itself, one after the other.
func measureRenewals(ctx context.Context, b *bench) error {
	if err := b.makeArenas(ctx, b.policies); err != nil {
		return err
	}
	if err := b.holdArena(ctx); err != nil {
		return err
	}
	variants := []variant{
		b.nothing(), b.bare("webhook, one condition", false), b.policy(), b.installed(1), b.installed(b.policies),
	}
	median, tail := map[string][]float64{}, map[string][]float64{}
	calls := 0.0
	err := b.playRounds(ctx, b.rounds, variants, func(ctx context.Context, _ int, v *variant) error {
		before, err := b.calls(ctx)
		if err != nil {
			return err
		}
		took, err := b.renew(ctx, arena(0))
		if err != nil {
			return err
		}
		median[v.name], tail[v.name] = append(median[v.name], quantile(took, 0.5)), append(tail[v.name], quantile(took, 0.99))
		after, err := b.calls(ctx)
		calls += after.total - before.total
		return err
	})
	if err != nil {
		return err
	}
	targets := []target{{}, {}, {}, atMost(1.2), atMost(1.3)}
	for i, v := range variants {
		b.compare("1", "renewal, "+v.name, targets[i], median[v.name], median[variants[0].name], i > 0)
	}
	b.report.add("1", "webhook calls for all of them", "", target{None: true}, calls)
	last := variants[len(variants)-1].name
	b.report.note("Row 1: the p99 of a renewal is %s ms, with %s %s ms.",
		number(newResult(tail[variants[0].name]).Median), last, number(newResult(tail[last]).Median))
	b.report.Curves = append(b.report.Curves, &curve{
		Title: "Renewal beside nothing installed", X: "policies", Y: "times", Limit: 1.3,
		Points: []point{
			{0, 1},
			{1, newResult(ratios(median[variants[3].name], median[variants[0].name])).Median},
			{float64(b.policies), newResult(ratios(median[last], median[variants[0].name])).Median},
		},
	})
	return nil
}

// compare adds a latency, beside another one if there is one.
func (b *bench) compare(row, name string, t target, values, other []float64, compared bool) {
	if !compared {
		other = nil
	}
	b.report.addBeside(row, name, "ms", t, values, "nothing installed", other)
}

// holdArena gives the Lease of the first arena a holder.
func (b *bench) holdArena(ctx context.Context) error {
	leases := b.kube.CoordinationV1().Leases(arena(0))
	lease, err := leases.Get(ctx, app, metav1.GetOptions{})
	if err != nil {
		return err
	}
	take(lease, identity(app, 0))
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

// renew renews the Lease of an arena and returns how long each renewal took.
func (b *bench) renew(ctx context.Context, namespace string) ([]time.Duration, error) {
	leases := b.kube.CoordinationV1().Leases(namespace)
	lease, err := leases.Get(ctx, app, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for range warmUp + b.renewals {
		now := metav1.NowMicro()
		lease.Spec.RenewTime = &now
		start := time.Now()
		if lease, err = leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took[warmUp:], nil
}

func holderOf(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}
