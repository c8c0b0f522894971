package terms

import (
	"maps"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// leases keeps the Leases of the cluster and the history of those that somebody
// looks at, which the Publisher does in the replica that leads. It is what the
// Reflector of the watch writes to, without a queue in between: histories need
// every observation, in order, and a renewal must cost next to nothing. It is
// safe for concurrent use.
type leases struct {
	clock     clock.PassiveClock
	elections Observer

	// filled is closed once the first list has arrived.
	filled      chan struct{}
	closeFilled func()

	moves moves

	mu        sync.Mutex
	objects   map[types.NamespacedName]*coordinationv1.Lease
	histories map[types.NamespacedName]*history
	// born are the Leases that were made while somebody was told of changes, and
	// have no history yet.
	born map[types.NamespacedName]bool
	// handler is told that a Lease with a history changed in more than being
	// renewed. Nil: nobody is.
	handler func(types.NamespacedName)
}

var _ cache.ReflectorStore = &leases{}

func newLeases(c clock.PassiveClock, elections Observer) *leases {
	filled := make(chan struct{})
	return &leases{
		clock: c, elections: elections,
		filled: filled, closeFilled: sync.OnceFunc(func() { close(filled) }),
		objects:   map[types.NamespacedName]*coordinationv1.Lease{},
		histories: map[types.NamespacedName]*history{},
		born:      map[types.NamespacedName]bool{},
	}
}

// subscribe has handle called for each Lease with a history that changes in
// more than being renewed. It must not block.
func (l *leases) subscribe(handle func(types.NamespacedName)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handler = handle
}

// Add implements cache.ReflectorStore.
func (l *leases) Add(o any) error { return l.Update(o) }

// Update implements cache.ReflectorStore.
func (l *leases) Update(o any) error {
	lease := trimLease(o.(*coordinationv1.Lease))
	key := types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}
	now := l.clock.Now()
	l.moves.see(key, lease.Annotations[v1alpha1.StepDownAnnotation] != "", now)
	old, tell := l.set(key, lease, now)
	if old == nil {
		l.elections.Track(key)
	}
	l.elections.Observe(lease, now)
	if tell != nil {
		tell(key)
	}
	return nil
}

// set returns whom to tell of the change. Nil: nobody.
func (l *leases) set(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) (old *coordinationv1.Lease, tell func(types.NamespacedName)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old = l.objects[key]
	l.objects[key] = lease
	h := l.histories[key]
	if h == nil {
		if old == nil && l.handler != nil && l.isFilled() {
			l.born[key] = true
		}
		return old, nil
	}
	if old != nil && old.UID != lease.UID {
		h.delete(now)
	}
	if passed := h.observe(lease, now); passed || old == nil || !onlyRenewed(old, lease) {
		return old, l.handler
	}
	return old, nil
}

// Delete implements cache.ReflectorStore.
func (l *leases) Delete(o any) error {
	lease := o.(*coordinationv1.Lease)
	l.remove(types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name})
	return nil
}

func (l *leases) remove(key types.NamespacedName) {
	now := l.clock.Now()
	l.moves.see(key, false, now)
	old, tell := l.unset(key, now)
	if old == nil {
		return
	}
	l.elections.Deleted(old, now)
	if tell != nil {
		tell(key)
	}
	l.elections.Forget(key)
}

// unset returns whom to tell of it. Nil: nobody.
func (l *leases) unset(key types.NamespacedName, now time.Time) (old *coordinationv1.Lease, tell func(types.NamespacedName)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old = l.objects[key]
	delete(l.objects, key)
	delete(l.born, key)
	h := l.histories[key]
	if h == nil {
		return old, nil
	}
	h.delete(now)
	return old, l.handler
}

// Replace implements cache.ReflectorStore.
func (l *leases) Replace(list []any, _ string) error {
	present := make(map[types.NamespacedName]bool, len(list))
	for _, o := range list {
		lease := o.(*coordinationv1.Lease)
		present[types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}] = true
	}
	for _, key := range l.keys() {
		if !present[key] {
			l.remove(key)
		}
	}
	for _, o := range list {
		if err := l.Update(o); err != nil {
			return err
		}
	}
	l.closeFilled()
	return nil
}

func (l *leases) isFilled() bool {
	select {
	case <-l.filled:
		return true
	default:
		return false
	}
}

// Resync implements cache.ReflectorStore. Nothing is ever out of step.
func (l *leases) Resync() error { return nil }

func (l *leases) keys() []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Keys(l.objects), compareKeys)
}

// account is what is known of a governed Lease at one moment.
type account struct {
	// lease is nil if it does not exist.
	lease *coordinationv1.Lease
	terms []v1alpha1.Term
	// fresh says that the newest term was not described yet, born that we have
	// seen the Lease come to be.
	fresh, born bool
	// deadline is when the current term runs out unless it is renewed. Zero:
	// there is none.
	deadline time.Time
}

// look begins to keep the history of a Lease, after the terms that recorded
// returns, and gives an account of it. expired says that a term ran out by now.
func (l *leases) look(key types.NamespacedName, recorded func() []v1alpha1.Term) (a account, expired bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, h := l.clock.Now(), l.histories[key]
	if h == nil {
		h = resume(recorded())
		h.born = l.born[key]
		delete(l.born, key)
		l.histories[key] = h
		if lease := l.objects[key]; lease != nil {
			h.observe(lease, now)
		} else {
			h.delete(now)
		}
	}
	expired = h.expire(now)
	return account{lease: l.objects[key], terms: h.terms, fresh: h.fresh, born: h.born, deadline: h.deadline()}, expired
}

// describe takes up what is known of the holder of the newest term, and returns
// the terms.
func (l *leases) describe(key types.NamespacedName, t *v1alpha1.Term) []v1alpha1.Term {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.histories[key]
	h.describe(t)
	return h.terms
}

// forget ends the history of a Lease that is not governed any more.
func (l *leases) forget(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.histories, key)
}

// trimLease drops what nobody here reads. The Reflector has just decoded the
// object and keeps no reference to it.
func trimLease(lease *coordinationv1.Lease) *coordinationv1.Lease {
	lease.ManagedFields, lease.OwnerReferences, lease.Finalizers = nil, nil, nil
	return lease
}

// onlyRenewed reports whether the Lease may differ in its renewTime, and in
// nothing else that a decision or a status depends on.
func onlyRenewed(old, lease *coordinationv1.Lease) bool {
	a, b := &old.Spec, &lease.Spec
	return ptr.Equal(a.HolderIdentity, b.HolderIdentity) &&
		ptr.Equal(a.LeaseTransitions, b.LeaseTransitions) &&
		ptr.Equal(a.LeaseDurationSeconds, b.LeaseDurationSeconds) &&
		ptr.Equal(a.Strategy, b.Strategy) &&
		ptr.Equal(a.PreferredHolder, b.PreferredHolder) &&
		sameMicroTime(a.AcquireTime, b.AcquireTime) &&
		maps.Equal(old.Annotations, lease.Annotations) &&
		maps.Equal(old.Labels, lease.Labels)
}

func sameMicroTime(a, b *metav1.MicroTime) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Time.Equal(b.Time)
}
