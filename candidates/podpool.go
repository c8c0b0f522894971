package candidates

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// podPool holds the Pods of one scope, indexed so that what concerns one Lease
// is found without looking at the others.
type podPool struct {
	byNamespace index[string, *corev1.Pod]
	// byLease has an index for each place that some policy reads a Lease's name
	// from.
	byLease map[v1alpha1.FieldSource]index[types.NamespacedName, *corev1.Pod]
	byNode  podGroups[string]
	byOwner podGroups[types.UID]
}

// podGroups are Pods of any namespace by something they have in common.
type podGroups[K comparable] map[K]map[types.NamespacedName]*corev1.Pod

func (g podGroups[K]) add(key K, pod *corev1.Pod) {
	if g[key] == nil {
		g[key] = map[types.NamespacedName]*corev1.Pod{}
	}
	g[key][podKey(pod)] = pod
}

func (g podGroups[K]) remove(key K, pod *corev1.Pod) {
	delete(g[key], podKey(pod))
	if len(g[key]) == 0 {
		delete(g, key)
	}
}

func newPodPool() *podPool {
	return &podPool{
		byNamespace: index[string, *corev1.Pod]{},
		byLease:     map[v1alpha1.FieldSource]index[types.NamespacedName, *corev1.Pod]{},
		byNode:      podGroups[string]{},
		byOwner:     podGroups[types.UID]{},
	}
}

// indexLeases makes an index for a place that Lease names are read from.
func (p *podPool) indexLeases(source v1alpha1.FieldSource) {
	if p.byLease[source] != nil {
		return
	}
	x := index[types.NamespacedName, *corev1.Pod]{}
	for _, pods := range p.byNamespace {
		for _, pod := range pods {
			x.add(leaseOf(pod, source), pod)
		}
	}
	p.byLease[source] = x
}

func leaseOf(pod *corev1.Pod, source v1alpha1.FieldSource) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: fieldValue(pod, source)}
}

// set takes up a Pod that came, changed or went (nil: is not there). What
// stays where it was is replaced in place.
func (p *podPool) set(old, now *corev1.Pod) {
	move(old, now, func(pod *corev1.Pod) string { return pod.Namespace }, p.byNamespace)
	for source, x := range p.byLease {
		move(old, now, func(pod *corev1.Pod) types.NamespacedName { return leaseOf(pod, source) }, x)
	}
	move(old, now, func(pod *corev1.Pod) string { return pod.Spec.NodeName }, p.byNode)
	move(old, now, ownerOf, p.byOwner)
}

// move brings a Pod in an index from where it was to where it belongs.
func move[K comparable](old, now *corev1.Pod, key func(*corev1.Pod) K, in interface {
	add(K, *corev1.Pod)
	remove(K, *corev1.Pod)
}) {
	if old != nil && (now == nil || key(old) != key(now)) {
		in.remove(key(old), old)
	}
	if now != nil {
		in.add(key(now), now)
	}
}

func podKey(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// ownerOf is the UID of the Pod's controller, or "".
func ownerOf(pod *corev1.Pod) types.UID {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return owner.UID
	}
	return ""
}

// candidates are the Pods that a source makes candidates for the Lease.
func (p *podPool) candidates(s *podSource, lease types.NamespacedName) []*corev1.Pod {
	if s.LeaseName == nil {
		return p.byNamespace.list(lease.Namespace)
	}
	return p.byLease[*s.LeaseName].list(lease)
}
