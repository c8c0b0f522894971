package simulate

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jitterFactor is client-go's: a candidate waits between one retry period and
// 2.2 of them.
const jitterFactor = 1.2

// elector is a process of a replica. It does what client-go's LeaderElector
// does, from its start to its end.
type elector struct {
	run      *run
	replica  *replica
	identity string
	// alive until the process ends, leading while it counts itself the leader.
	alive, leading bool
	// observed is the Lease as it last saw it change, at observedAt.
	observed   coordinationv1.LeaseSpec
	observedAt time.Time
	// round is when the present round of renewal began.
	round time.Time
}

// acquire is one turn of the loop that waits to lead.
func (e *elector) acquire() {
	if !e.alive {
		return
	}
	if e.tryAcquireOrRenew() {
		e.lead(true)
		e.renewLater()
		return
	}
	retry := e.run.scenario.Timings.RetryPeriod.Duration
	e.run.after(retry+time.Duration(e.run.random.Float64()*jitterFactor*float64(retry)), e.acquire)
}

func (e *elector) renewLater() {
	e.run.after(e.run.scenario.Timings.RetryPeriod.Duration, func() {
		e.round = e.run.now
		e.renew()
	})
}

// renew is one try of a round of renewal. A round that does not succeed within
// the deadline is the end of the process.
func (e *elector) renew() {
	if !e.alive {
		return
	}
	t := &e.run.scenario.Timings
	switch {
	case e.tryAcquireOrRenew():
		e.renewLater()
	case e.run.now.Add(t.RetryPeriod.Duration).Sub(e.round) > t.RenewDeadline.Duration:
		e.run.after(t.RenewDeadline.Duration-e.run.now.Sub(e.round), e.giveUp)
	default:
		e.run.after(t.RetryPeriod.Duration, e.renew)
	}
}

// giveUp ends a leader that could not renew. Its container is started again.
func (e *elector) giveUp() {
	if !e.alive {
		return
	}
	if e.run.scenario.Timings.ReleaseOnExit {
		e.release()
	}
	e.stop()
	e.run.reportDeath(e)
	e.replica.restartLater()
}

// stop is the end of the process.
func (e *elector) stop() {
	e.alive = false
	e.lead(false)
}

func (e *elector) lead(leading bool) {
	if e.leading != leading {
		e.leading = leading
		e.run.leaderChanged(e)
	}
}

// tryAcquireOrRenew is client-go's function of that name.
func (e *elector) tryAcquireOrRenew() bool {
	r := e.run
	if e.replica.cutOff {
		return false
	}
	if r.lease != nil {
		e.observe(&r.lease.Spec)
		held := holderOf(r.lease) != "" && e.observedAt.Add(r.scenario.Timings.LeaseDuration.Duration).After(r.now)
		if held && holderOf(r.lease) != e.identity {
			return false
		}
	}
	asked := e.ask()
	if !r.admits(e, asked) {
		return false
	}
	r.store(asked)
	e.observed, e.observedAt = asked.Spec, r.now
	return true
}

// observe notes when the Lease was last seen to change.
func (e *elector) observe(spec *coordinationv1.LeaseSpec) {
	if e.observedAt.IsZero() || !e.observed.RenewTime.Equal(spec.RenewTime) || *e.observed.HolderIdentity != *spec.HolderIdentity {
		e.observed, e.observedAt = *spec, e.run.now
	}
}

// ask is the Lease as the elector wants it.
func (e *elector) ask() *coordinationv1.Lease {
	r := e.run
	now := metav1.NewMicroTime(r.now)
	duration, transitions := int32(r.scenario.Timings.LeaseDuration.Duration/time.Second), int32(0)
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = r.key.Namespace, r.key.Name
	acquired := &now
	if r.lease != nil {
		lease.Annotations = r.lease.Annotations
		transitions = *r.lease.Spec.LeaseTransitions
		if holderOf(r.lease) == e.identity {
			acquired = r.lease.Spec.AcquireTime
		} else {
			transitions++
		}
	}
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &e.identity, LeaseDurationSeconds: &duration, RenewTime: &now, AcquireTime: acquired, LeaseTransitions: &transitions,
	}
	return lease
}

// release gives the Lease up, as client-go does.
func (e *elector) release() {
	r := e.run
	if e.replica.cutOff || r.lease == nil || holderOf(r.lease) != e.identity {
		return
	}
	nobody, second, now := "", int32(1), metav1.NewMicroTime(r.now)
	lease := r.lease.DeepCopy()
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &nobody, &second
	lease.Spec.RenewTime, lease.Spec.AcquireTime = &now, &now
	r.store(lease)
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease == nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
