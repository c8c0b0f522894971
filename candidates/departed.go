package candidates

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxDeparted bounds how many deleted Pods are remembered for each watch. It is
// enough if they are remembered for the moment in which one of them still holds
// a Lease.
const maxDeparted = 512

// departed are Pods that were deleted, as they were in the end. The last one of
// a name is kept.
type departed struct {
	pool *podPool
	// order is that of their deletion.
	order []*corev1.Pod
}

func newDeparted() *departed { return &departed{pool: newPodPool()} }

// add remembers a Pod. One that was not terminating may just have got other
// labels, and is not deleted at all.
func (d *departed) add(last *corev1.Pod) {
	if last.DeletionTimestamp == nil {
		return
	}
	d.pool.set(d.pool.byNamespace[last.Namespace][last.Name], last)
	d.order = append(d.order, last)
	if len(d.order) <= maxDeparted {
		return
	}
	first := d.order[0]
	d.order = d.order[1:]
	if d.pool.byNamespace[first.Namespace][first.Name] == first {
		d.pool.set(first, nil)
	}
}

// Departed implements Objects.
func (s *state) Departed(p *Policy, lease types.NamespacedName) []*corev1.Pod {
	if sc := s.scopeOf(p, lease.Namespace); sc != nil {
		return sc.departed.pool.candidates(p.pods, lease)
	}
	return nil
}

// Departed implements Objects. A set has no past.
func (s *ObjectSet) Departed(*Policy, types.NamespacedName) []*corev1.Pod { return nil }
