package simulation

import (
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/candidates"
)

// elections is the Cache of a replica, with what the webhook last learned of it.
type elections struct {
	*candidates.Cache
	plant    Plant
	watchdog *watchdog

	mu   sync.Mutex
	last *ballot
	seen map[types.NamespacedName]sighting
}

// sighting is since when this replica knows a record of a Lease.
type sighting struct {
	lease *coordinationv1.Lease
	since time.Time
}

// ballot is an attempt and what it came down to.
type ballot struct {
	*candidates.Ballot
	attempt candidates.Attempt
	seen    sighting
}

// Observe implements terms.Observer. A Lease that is not governed is not noted.
func (e *elections) Observe(lease *coordinationv1.Lease, now time.Time) {
	if e.Governing(types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}).Policy != nil {
		e.see(lease)
	}
	e.Cache.Observe(lease, now)
}

// Subscribe implements terms.Elections. It tells a moment later, once all has
// happened that happens now, and in order: how often the Publisher looks at a
// Lease must not depend on how soon one of its workers runs.
func (e *elections) Subscribe(handle func(types.NamespacedName)) {
	var mu sync.Mutex
	var pending []types.NamespacedName
	tell := func() {
		mu.Lock()
		keys := pending
		pending = nil
		mu.Unlock()
		slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range slices.Compact(keys) {
			handle(key)
		}
	}
	e.Cache.Subscribe(func(key types.NamespacedName) {
		mu.Lock()
		defer mu.Unlock()
		if pending = append(pending, key); len(pending) == 1 {
			time.AfterFunc(time.Nanosecond, tell)
		}
	})
}

// see notes since when a record is known.
func (e *elections) see(lease *coordinationv1.Lease) {
	if lease == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}
	was := e.seen[key]
	switch {
	case was.lease == nil || !apiequality.Semantic.DeepEqual(was.lease.Spec, lease.Spec) && newer(lease, was.lease):
		e.seen[key] = sighting{lease, time.Now()}
	}
}

func newer(a, b *coordinationv1.Lease) bool {
	return len(a.ResourceVersion) > len(b.ResourceVersion) || len(a.ResourceVersion) == len(b.ResourceVersion) && a.ResourceVersion > b.ResourceVersion
}

// Attempt implements webhook.Elections.
func (e *elections) Attempt(a candidates.Attempt) (*candidates.Ballot, error) {
	b, err := e.Cache.Attempt(a)
	if err != nil {
		return nil, err
	}
	if !a.SideEffectFree {
		e.see(a.Old)
	}
	e.plant.ballot(b, &a)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = &ballot{b, a, e.seen[types.NamespacedName{Namespace: a.New.Namespace, Name: a.New.Name}]}
	return b, nil
}

func (e *elections) take() *ballot {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.last
	e.last = nil
	return b
}
