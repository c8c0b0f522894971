package simulation

import (
	"context"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// elector is one process with an unmodified client-go elector in it, and what it
// believes.
type elector struct {
	lease, identity string
	timing          timing
	link            *api.Link
	strip           bool
	// changed is told whenever it begins or ends to believe that it leads.
	changed func(e *elector, leads bool)
	denied  func(e *elector, err error)

	mu sync.Mutex
	// leads says that it was told so and not yet otherwise; until is when, by
	// its own rules, it stops at the latest.
	leads bool
	until time.Time
	dead  bool
}

// believes reports whether it leads by its own rules.
func (e *elector) believes(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leads && !e.dead && !now.After(e.until)
}

// run elects until ctx ends or the Lease is lost, as a component does that then
// exits.
func (e *elector) run(ctx context.Context, of *component, c clock.Clock) {
	ctx = klog.NewContext(ctx, logr.Discard())
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: e.lease},
			Client:     leases{e},
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.identity},
		},
		LeaseDuration: e.timing.lease, RenewDeadline: e.timing.renew, RetryPeriod: e.timing.retry,
		ReleaseOnCancel: of.release, Coordinated: of.coordinated, Name: e.lease,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				if ctx.Err() == nil {
					e.set(true)
				}
			},
			OnStoppedLeading: func() { e.set(false) },
		},
	})
	if err != nil {
		panic(err)
	}
	setClock(le, c)
	le.Run(ctx)
}

// setClock sets the clock that an elector reads, for which client-go has no
// option.
func setClock(le *leaderelection.LeaderElector, c clock.Clock) {
	f := reflect.ValueOf(le).Elem().FieldByName("clock")
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(c))
}

func (e *elector) set(leads bool) {
	e.mu.Lock()
	was := e.leads
	e.leads = leads && !e.dead
	is := e.leads
	e.mu.Unlock()
	if was != is {
		e.changed(e, is)
	}
}

// kill ends the process without a word.
func (e *elector) kill() {
	e.link.Kill()
	e.mu.Lock()
	e.dead = true
	e.mu.Unlock()
	e.set(false)
}

// renewed notes that the Lease is its own for another while.
func (e *elector) renewed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until = time.Now().Add(e.timing.retry + e.timing.renew)
}

// leases is the client of an elector, which sees what it is told.
type leases struct{ e *elector }

// Leases implements LeasesGetter.
func (l leases) Leases(namespace string) coordinationclient.LeaseInterface {
	return &lock{LeaseInterface: api.LeaseClient{Link: l.e.link}.Leases(namespace), e: l.e}
}

type lock struct {
	coordinationclient.LeaseInterface
	e *elector
}

func (l *lock) Create(ctx context.Context, lease *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	written, err := l.LeaseInterface.Create(ctx, lease, o)
	return l.answered(written, err)
}

func (l *lock) Update(ctx context.Context, lease *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if api.Holder(lease) == "" {
		l.e.set(false) // whoever releases does not lead any more
	}
	if l.e.strip {
		lease = lease.DeepCopy()
		lease.Annotations = nil
	}
	written, err := l.LeaseInterface.Update(ctx, lease, o)
	return l.answered(written, err)
}

func (l *lock) answered(written *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
	switch {
	case api.IsDenied(err):
		l.e.denied(l.e, err)
	case err == nil && api.Holder(written) == l.e.identity:
		l.e.renewed()
	}
	return written, err
}

// skewedClock is the clock of a node: some time off, and too fast or too slow.
type skewedClock struct {
	clock.RealClock
	start  time.Time
	offset time.Duration
	drift  float64
}

// Now implements clock.PassiveClock.
func (c skewedClock) Now() time.Time {
	elapsed := time.Since(c.start)
	return c.start.Add(c.offset + elapsed + time.Duration(float64(elapsed)*c.drift))
}

// Since implements clock.PassiveClock.
func (c skewedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
