package terms

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// moveSettles is how long after a holder stepped down its Lease still counts as
// being moved: until the Elections tell where it is held now.
const moveSettles = 5 * time.Second

// moves are the Leases whose holders are being moved. Choices that depend on
// where other Leases are held are carried out one after the other, or two of them
// could make way for each other for ever. The zero value is ready, and safe for
// concurrent use.
type moves struct {
	mu sync.Mutex
	// until is when a move counts as over. Zero: not before it is seen to be.
	until map[types.NamespacedName]time.Time
}

// see takes up whether a Lease has an order to step down.
func (m *moves) see(key types.NamespacedName, ordered bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	end, known := m.until[key]
	switch {
	case ordered:
		m.set(key, time.Time{})
	case known && end.IsZero():
		m.set(key, now.Add(moveSettles))
	}
}

// hold has a Lease count as being moved until then.
func (m *moves) hold(key types.NamespacedName, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(key, until)
}

func (m *moves) set(key types.NamespacedName, until time.Time) {
	if m.until == nil {
		m.until = map[types.NamespacedName]time.Time{}
	}
	m.until[key] = until
}

// others reports whether another Lease is being moved.
func (m *moves) others(key types.NamespacedName, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	moving := false
	for other, end := range m.until {
		switch {
		case !end.IsZero() && !now.Before(end):
			delete(m.until, other)
		case other != key:
			moving = true
		}
	}
	return moving
}
