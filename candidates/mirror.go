package candidates

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// mirror keeps the objects of one watch. It is what a client-go Reflector
// writes to. Every write is one call of update, which holds the lock of
// whoever reads.
type mirror[T comparable] struct {
	update func(func())
	// trim makes what is kept of an object. The zero T: nothing.
	trim func(any) T
	// changed is told of every object that came, changed or went, with the zero
	// T for one that is not there.
	changed func(key types.NamespacedName, old, now T)
	// departed is told of every object that was deleted while we watched, as it
	// was in the end, before changed is. Nil: nobody wants to know.
	departed func(last T)

	objects map[types.NamespacedName]T
	filled  bool
}

var _ cache.ReflectorStore = &mirror[*labelled]{}

func newMirror[T comparable](update func(func()), trim func(any) T, changed func(types.NamespacedName, T, T)) *mirror[T] {
	return &mirror[T]{update: update, trim: trim, changed: changed, objects: map[types.NamespacedName]T{}}
}

// Add implements cache.ReflectorStore.
func (m *mirror[T]) Add(o any) error { return m.Update(o) }

// Update implements cache.ReflectorStore.
func (m *mirror[T]) Update(o any) error {
	key, err := objectKey(o)
	if err != nil {
		return err
	}
	now := m.trim(o)
	m.update(func() { m.set(key, now) })
	return nil
}

// Delete implements cache.ReflectorStore.
func (m *mirror[T]) Delete(o any) error {
	key, err := objectKey(o)
	if err != nil {
		return err
	}
	var none, last T
	if m.departed != nil {
		last = m.trim(o)
	}
	m.update(func() {
		if last != none {
			m.departed(last)
		}
		m.set(key, none)
	})
	return nil
}

// Replace implements cache.ReflectorStore.
func (m *mirror[T]) Replace(list []any, _ string) error {
	now := make(map[types.NamespacedName]T, len(list))
	for _, o := range list {
		key, err := objectKey(o)
		if err != nil {
			return err
		}
		now[key] = m.trim(o)
	}
	m.update(func() {
		var none T
		for key := range m.objects {
			if _, ok := now[key]; !ok {
				m.set(key, none)
			}
		}
		for key, o := range now {
			m.set(key, o)
		}
		m.filled = true
	})
	return nil
}

// Resync implements cache.ReflectorStore. Nothing is ever out of step.
func (m *mirror[T]) Resync() error { return nil }

func (m *mirror[T]) set(key types.NamespacedName, now T) {
	var none T
	old := m.objects[key]
	if now == none {
		delete(m.objects, key)
	} else {
		m.objects[key] = now
	}
	if old != none || now != none {
		m.changed(key, old, now)
	}
}

// clear drops all objects.
func (m *mirror[T]) clear() {
	var none T
	for key := range m.objects {
		m.set(key, none)
	}
}

func objectKey(o any) (types.NamespacedName, error) {
	accessor, err := meta.Accessor(o)
	if err != nil {
		return types.NamespacedName{}, err
	}
	return types.NamespacedName{Namespace: accessor.GetNamespace(), Name: accessor.GetName()}, nil
}
