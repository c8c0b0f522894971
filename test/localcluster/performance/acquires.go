package main

import (
	"context"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// pause is between an acquire and the next: whoever leads writes nothing for a
// while, and what the acquire causes elsewhere is not part of the next one.
const pause = 5 * time.Millisecond

// measureAcquires measures an acquire of a vacant Lease, by itself.
func measureAcquires(ctx context.Context, b *bench) error {
	if err := b.makeArenas(ctx, 1); err != nil {
		return err
	}
	warden := b.installed(1)
	warden.name = "Leasewarden"
	both := b.bare("allow-all", true)
	variants := []variant{b.nothing(), b.policy(), b.bare("allow-all, validating", false), both, warden}
	median, tail := map[string][]float64{}, map[string][]float64{}
	var refused []float64
	err := b.playRounds(ctx, b.rounds, variants, func(ctx context.Context, _ int, v *variant) error {
		took, err := b.acquire(ctx, 0)
		if err != nil {
			return err
		}
		median[v.name], tail[v.name] = append(median[v.name], quantile(took, 0.5)), append(tail[v.name], quantile(took, 0.99))
		if v.name != warden.name {
			return nil
		}
		took, err = b.acquire(ctx, 1)
		refused = append(refused, quantile(took, 0.5))
		return err
	})
	if err != nil {
		return err
	}
	beside := func(name, what string, t target, values map[string][]float64) {
		b.report.addBeside("2", name, "ms", t, values[what], both.name, values[both.name])
	}
	for _, v := range variants[:3] {
		beside("acquire p50, "+v.name, v.name, target{}, median)
	}
	b.report.add("2", "acquire p50, "+both.name, "ms", target{}, median[both.name]...)
	beside("acquire p50, Leasewarden", warden.name, atMost(1.05), median)
	b.report.add("2", "acquire p99, "+both.name, "ms", target{}, tail[both.name]...)
	beside("acquire p99, Leasewarden", warden.name, atMost(1.15), tail)
	b.report.addBeside("2", "refused p50, Leasewarden", "ms", target{}, refused, both.name, median[both.name])
	return nil
}

// acquire has a candidate acquire the vacant Lease of the first arena, and
// release it, again and again. It returns how long each attempt took, whether or
// not it was refused: the first candidate must not be, others must.
func (b *bench) acquire(ctx context.Context, candidate int) ([]time.Duration, error) {
	leases := b.kube.CoordinationV1().Leases(arena(0))
	lease, err := leases.Get(ctx, app, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if lease, err = b.release(ctx, lease); err != nil {
		return nil, err
	}
	var took []time.Duration
	for range warmUp + b.acquires {
		time.Sleep(pause)
		attempt := lease.DeepCopy()
		take(attempt, identity(app, candidate))
		start := time.Now()
		got, err := leases.Update(ctx, attempt, metav1.UpdateOptions{})
		took = append(took, time.Since(start))
		if candidate != 0 && apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if lease, err = b.release(ctx, got); err != nil {
			return nil, err
		}
	}
	// Renewals that are measured next have a holder.
	take(lease, identity(app, 0))
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return slices.Clip(took[warmUp:]), err
}

// take writes the candidate as the new holder, as client-go does.
func take(lease *coordinationv1.Lease, identity string) {
	now := metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.RenewTime = &identity, &now, &now
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(resting.Seconds()))
	lease.Spec.LeaseTransitions = ptr.To(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
}

// release has the holder give the Lease up.
func (b *bench) release(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	if holderOf(lease) == "" {
		return lease, nil
	}
	lease.Spec.HolderIdentity = nil
	return b.kube.CoordinationV1().Leases(lease.Namespace).Update(ctx, lease, metav1.UpdateOptions{})
}
