package candidates

import "k8s.io/apimachinery/pkg/types"

// tracking knows the Leases that exist and which policy governs each of them,
// so that an event is brought to the Leases it concerns and to no others.
type tracking struct {
	// governors are by namespace and name. Nil: no policy governs the Lease.
	governors map[string]map[string]*Policy
	// governed are the Leases of each policy, by namespace.
	governed map[*Policy]map[string]map[string]struct{}
}

func newTracking() *tracking {
	return &tracking{
		governors: map[string]map[string]*Policy{},
		governed:  map[*Policy]map[string]map[string]struct{}{},
	}
}

// set notes which policy governs the Lease.
func (t *tracking) set(key types.NamespacedName, p *Policy) {
	t.release(key)
	if t.governors[key.Namespace] == nil {
		t.governors[key.Namespace] = map[string]*Policy{}
	}
	t.governors[key.Namespace][key.Name] = p
	if p == nil {
		return
	}
	if t.governed[p] == nil {
		t.governed[p] = map[string]map[string]struct{}{}
	}
	if t.governed[p][key.Namespace] == nil {
		t.governed[p][key.Namespace] = map[string]struct{}{}
	}
	t.governed[p][key.Namespace][key.Name] = struct{}{}
}

// remove forgets the Lease.
func (t *tracking) remove(key types.NamespacedName) {
	t.release(key)
	delete(t.governors[key.Namespace], key.Name)
	if len(t.governors[key.Namespace]) == 0 {
		delete(t.governors, key.Namespace)
	}
}

func (t *tracking) release(key types.NamespacedName) {
	p := t.governors[key.Namespace][key.Name]
	if p == nil {
		return
	}
	names := t.governed[p][key.Namespace]
	if delete(names, key.Name); len(names) == 0 {
		delete(t.governed[p], key.Namespace)
	}
	if len(t.governed[p]) == 0 {
		delete(t.governed, p)
	}
}

// has reports whether the Lease is known.
func (t *tracking) has(key types.NamespacedName) bool {
	_, ok := t.governors[key.Namespace][key.Name]
	return ok
}

// governor is the policy that governs the Lease, or nil.
func (t *tracking) governor(key types.NamespacedName) *Policy {
	return t.governors[key.Namespace][key.Name]
}

// count is how many Leases the policy governs.
func (t *tracking) count(p *Policy) int {
	n := 0
	for _, names := range t.governed[p] {
		n += len(names)
	}
	return n
}
