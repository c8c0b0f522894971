package main

import (
	"context"
	"errors"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// evict moves a Lease whose holder releases it at its end.
var evict = &scenario{
	name: "evict", title: "Switchover to a named candidate, method Evict", governedOnly: true,
	prepare: func(ctx context.Context, l *lane) error { return prepareSwitchover(ctx, l, v1alpha1.Evict, releases) },
	round:   playSwitchover,
	figures: []figure{
		{name: "switchover, Evict", unit: seconds, target: target{median: 3}},
		{name: untilHolder, unit: seconds},
		{name: untilNext, unit: seconds},
	},
}

// deny moves a Lease whose holder never releases it, and ends when it has lost
// it.
var deny = &scenario{
	name: "deny", title: "Switchover by denied renewals, the holder never releases", governedOnly: true,
	prepare: func(ctx context.Context, l *lane) error {
		return prepareSwitchover(ctx, l, v1alpha1.DenyRenewal, keeps)
	},
	round: playSwitchover,
	figures: []figure{
		{name: "switchover, denied renewals", unit: seconds, target: target{worst: (renewDeadline + 3*time.Second).Seconds()}},
		{name: untilHolder, unit: seconds},
		{name: untilNext, unit: seconds},
	},
}

// What a switchover is made of.
const (
	untilHolder = "- until the holder gives up"
	untilNext   = "- then until the next leads"
)

// playSwitchover returns how long it took, until the holder led no more, and from
// then on.
func playSwitchover(ctx context.Context, l *lane) ([]float64, error) {
	asked, holder, next, err := switchOver(ctx, l)
	if err != nil {
		return nil, err
	}
	stop, err := l.stopped(ctx, holder)
	return []float64{next.Sub(asked).Seconds(), stop.At.Sub(asked).Seconds(), next.Sub(stop.At).Seconds()}, err
}

func prepareSwitchover(ctx context.Context, l *lane, method v1alpha1.PreemptionMethod, e ending) error {
	if err := l.govern(ctx, v1alpha1.FirstCome, v1alpha1.Preemption{Method: method}); err != nil {
		return err
	}
	return l.deploy(ctx, e)
}

// switchOver asks for a candidate that does not lead, and returns when it was
// asked for, the holder's identity then, and when the candidate led.
func switchOver(ctx context.Context, l *lane) (asked time.Time, holder string, next time.Time, err error) {
	if err = l.atRandom(ctx); err != nil {
		return
	}
	if holder, err = l.holder(ctx); err != nil {
		return
	}
	pods, err := l.running(ctx)
	if err != nil {
		return
	}
	for i := range pods {
		if pods[i].Name == podOf(holder) {
			continue
		}
		asked = time.Now()
		if err = l.switchover(ctx, pods[i].Name); err != nil {
			return
		}
		r, err := l.next(ctx, asked, pods[i].Name)
		return asked, holder, r.At, err
	}
	return asked, holder, next, errors.New("there is no other candidate in " + l.namespace)
}
