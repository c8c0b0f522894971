package webhook

import (
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// series knows which Leases have metrics. The zero value is ready, and safe for
// concurrent use.
type series struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*counted
}

// counted is what is remembered of a Lease that has metrics.
type counted struct {
	// absent says that there was no such Lease when it was last looked for, and
	// that nothing was counted since.
	absent bool

	mu sync.Mutex
	// vacancy is the last one in which a skew was prevented.
	vacancy vacancy
}

// vacancy tells the vacancies of a Lease apart: its transitions are counted up
// by whoever acquires it.
type vacancy struct {
	lease       types.UID
	transitions int32
}

// touch notes that something is counted of a Lease.
func (s *series) touch(key types.NamespacedName) *counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.all[key]
	if known == nil {
		if s.all == nil {
			s.all = map[types.NamespacedName]*counted{}
		}
		known = &counted{}
		s.all[key] = known
	}
	known.absent = false
	return known
}

// outdated removes those that did not exist at two looks in a row, and returns
// them.
func (s *series) outdated(exists func(types.NamespacedName) bool) []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	var old []types.NamespacedName
	for key, known := range s.all {
		switch {
		case key.Name != "" && exists(key):
			known.absent = false
		case known.absent:
			delete(s.all, key)
			old = append(old, key)
		default:
			known.absent = true
		}
	}
	return old
}

// isNewVacancy reports whether this is the first time that it is asked about the
// present vacancy of the Lease. A term that has run out is one, too.
func (c *counted) isNewVacancy(lease *coordinationv1.Lease) bool {
	now := vacancy{lease: lease.UID, transitions: ptr.Deref(lease.Spec.LeaseTransitions, 0)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vacancy == now {
		return false
	}
	c.vacancy = now
	return true
}
