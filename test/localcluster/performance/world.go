package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// provinces are the Namespaces of the world, each with a policy.
	provinces = 20
	// workers write to the API at once.
	workers = 24
	// strangers is the Namespace of the Pods that nobody governs.
	strangers = "strangers"
)

// world is many governed Leases, each with its candidates. It only grows.
type world struct {
	*bench
	// leases are as they were last written.
	leases []*coordinationv1.Lease
	others int
	// measured are the sizes that were measured.
	measured []size
}

func province(i int) string  { return fmt.Sprintf("province-%d", i%provinces) }
func leaseName(i int) string { return fmt.Sprintf("lease-%d", i) }

// grow makes what is missing of n Leases, each with three Pods, of which the
// first leads and nobody renews. They are made through the API; nothing runs.
func (w *world) grow(ctx context.Context, n int) error {
	from := len(w.leases)
	if from >= n {
		return nil
	}
	if from == 0 {
		for i := range provinces {
			if err := w.makeNamespace(ctx, province(i)); err != nil {
				return err
			}
			if err := ctrlclient.IgnoreAlreadyExists(w.client.Create(ctx, newPolicy(province(i), "lease-*"))); err != nil {
				return err
			}
		}
	}
	w.leases = append(w.leases, make([]*coordinationv1.Lease, n-from)...)
	return w.each(ctx, fmt.Sprintf("Leases with %d Pods each", replicas), n-from, func(ctx context.Context, i int) (err error) {
		i += from
		for j := range replicas {
			if err := w.makePod(ctx, province(i), leaseName(i), j); err != nil {
				return err
			}
		}
		w.leases[i], err = w.kube.CoordinationV1().Leases(province(i)).Create(ctx,
			newLease(province(i), leaseName(i), identity(leaseName(i), 0)), metav1.CreateOptions{})
		return err
	})
}

// addOthers makes Pods that no policy selects.
func (w *world) addOthers(ctx context.Context, n int) error {
	if err := w.makeNamespace(ctx, strangers); err != nil {
		return err
	}
	from := w.others
	w.others = max(n, from)
	return w.each(ctx, "Pods that nobody governs", n-from, func(ctx context.Context, i int) error {
		pod := newPod(strangers, fmt.Sprintf("stranger-%d", from+i), 0)
		delete(pod.Labels, "governed")
		pod.Spec.NodeName = ""
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "performance.example/never"}}
		_, err := w.kube.CoreV1().Pods(strangers).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// each does something n times, several at once, and says how far it is.
func (b *bench) each(ctx context.Context, what string, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var working sync.WaitGroup
	var next atomic.Int64
	for range min(workers, max(n, 0)) {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		working.Wait()
		close(done)
	}()
	for ticker := time.Tick(10 * time.Second); ; {
		select {
		case <-done:
			if n > 0 && ctx.Err() == nil {
				b.say("%d %s", n, what)
			}
			return context.Cause(ctx)
		case <-ticker:
			b.say("%d of %d %s ...", min(int(next.Load()), n), n, what)
		}
	}
}

// eachLease changes the first n Leases as they are now.
func (w *world) eachLease(ctx context.Context, what string, n int, change func(l *coordinationv1.Lease, i int)) error {
	return w.each(ctx, what, n, func(ctx context.Context, i int) error {
		leases := w.kube.CoordinationV1().Leases(province(i))
		lease, err := leases.Get(ctx, leaseName(i), metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(lease, i)
		w.leases[i], err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	})
}

// renewing is the load of the holders.
type renewing struct {
	cancel  context.CancelCauseFunc
	working sync.WaitGroup
	done    atomic.Int64
	ctx     context.Context
}

// renew has the first n Leases renewed, evenly, each once in that time.
func (w *world) renew(ctx context.Context, n int, every time.Duration) *renewing {
	r := &renewing{}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	start := time.Now()
	for worker := range min(workers, n) {
		r.working.Go(func() {
			for k := worker; r.ctx.Err() == nil; {
				due := start.Add(time.Duration(k) * every / time.Duration(n))
				select {
				case <-r.ctx.Done():
					return
				case <-time.After(time.Until(due)):
				}
				if err := w.renewOne(r.ctx, k%n); err != nil {
					r.cancel(err)
					return
				}
				r.done.Add(1)
				k = next(k, n)
			}
		})
	}
	return r
}

// next is the renewal that the same worker does after the k-th one: always of
// its own Leases, so that no two write to the same.
func next(k, n int) int {
	if k%n+workers < n {
		return k + workers
	}
	return k - k%n + n + k%n%workers
}

func (w *world) renewOne(ctx context.Context, i int) error {
	now := metav1.NowMicro()
	leases := w.kube.CoordinationV1().Leases(province(i))
	lease := w.leases[i]
	lease.Spec.RenewTime = &now
	lease, err := leases.Update(ctx, lease, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) { // as client-go does, the next renewal reads it first
		lease, err = leases.Get(ctx, leaseName(i), metav1.GetOptions{})
	}
	if err == nil {
		w.leases[i] = lease
	}
	return err
}

// stop ends the load. The error is that of the renewal that failed.
func (r *renewing) stop() error {
	r.cancel(errStopped)
	r.working.Wait()
	if err := context.Cause(r.ctx); err != errStopped {
		return err
	}
	return nil
}

// setDuration gives the first n Leases terms of that length, from now on.
func (w *world) setDuration(ctx context.Context, n int, term time.Duration) error {
	return w.eachLease(ctx, fmt.Sprintf("Leases with terms of %s", term), n, func(l *coordinationv1.Lease, _ int) {
		now := metav1.NowMicro()
		l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = ptr.To(int32(term.Seconds())), &now
	})
}
