package candidates

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// register remembers an unregistered identity until its object is there. fresh
// says that there is none yet.
func (l *ledger) register(key types.NamespacedName, r registration, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contest(key, true)
	r.fresh = fresh
	if old, ok := c.registrations[r.name]; ok {
		r.since = old.since
		l.unregister(key, c, old)
	}
	c.registrations[r.name] = r
	if fresh {
		l.fresh[key.Namespace]++
	}
}

// registered forgets a registration whose object has arrived, was changed or
// has gone: what it says holds, for all replicas alike.
func (l *ledger) registered(key types.NamespacedName, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := l.leases.Get(key); ok {
		if r, ok := c.(*contest).registrations[name]; ok {
			l.unregister(key, c.(*contest), r)
		}
	}
}

// freshIn counts the registrations in a namespace that have no object yet.
func (l *ledger) freshIn(namespace string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh[namespace]
}

// expire forgets the registrations whose identity has not tried for long.
func (l *ledger) expire(key types.NamespacedName, c *contest, now time.Time) {
	for _, r := range c.registrations {
		if r.expired(now) {
			l.unregister(key, c, r)
		}
	}
}

func (l *ledger) unregister(key types.NamespacedName, c *contest, r registration) {
	delete(c.registrations, r.name)
	if !r.fresh {
		return
	}
	if l.fresh[key.Namespace]--; l.fresh[key.Namespace] == 0 {
		delete(l.fresh, key.Namespace)
	}
}

// evicted takes up that a Lease is forgotten. The ledger is locked.
func (l *ledger) evicted(key lru.Key, value any) {
	c := value.(*contest)
	for _, r := range c.registrations {
		l.unregister(key.(types.NamespacedName), c, r)
	}
}
