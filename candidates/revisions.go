package candidates

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// revisionAnnotation is what the Deployment controller numbers ReplicaSets
// with (pkg/controller/deployment/util, RevisionAnnotation).
const revisionAnnotation = "deployment.kubernetes.io/revision"

// revisionKey finds a revision: a ReplicaSet by its own UID, a
// ControllerRevision by its owner's UID and what the Pods' label says.
type revisionKey struct {
	owner types.UID
	hash  string
}

// revisions are revision numbers by key.
type revisions map[revisionKey]int64

// numbered is what one ReplicaSet or ControllerRevision says.
type numbered struct {
	keys   []revisionKey
	number int64
}

// replicaSetRevision reads a ReplicaSet, or its metadata alone.
func replicaSetRevision(o metav1.Object) *numbered {
	n, err := strconv.ParseInt(o.GetAnnotations()[revisionAnnotation], 10, 64)
	if err != nil {
		return nil // not a Deployment's
	}
	return &numbered{keys: []revisionKey{{owner: o.GetUID()}}, number: n}
}

// controllerRevision reads a ControllerRevision. A StatefulSet labels its Pods
// with the name of it, a DaemonSet with its hash.
func controllerRevision(o *appsv1.ControllerRevision) *numbered {
	owner := metav1.GetControllerOf(o)
	if owner == nil {
		return nil
	}
	n := &numbered{keys: []revisionKey{{owner.UID, o.Name}}, number: o.Revision}
	if hash := o.Labels[appsv1.ControllerRevisionHashLabelKey]; hash != "" {
		n.keys = append(n.keys, revisionKey{owner.UID, hash})
	}
	return n
}

// set replaces what an object said before by what it says now; nil stands for
// nothing.
func (r revisions) set(old, now *numbered) {
	if old != nil {
		for _, k := range old.keys {
			delete(r, k)
		}
	}
	if now != nil {
		for _, k := range now.keys {
			r[k] = now.number
		}
	}
}

// number is that of the revision that the Pod was made from. 0: not known.
func (r revisions) number(pod *corev1.Pod) int64 {
	owner := ownerOf(pod)
	if owner == "" {
		return 0
	}
	if n, ok := r[revisionKey{owner: owner}]; ok {
		return n
	}
	return r[revisionKey{owner, pod.Labels[appsv1.ControllerRevisionHashLabelKey]}]
}

// owners are the controllers of the Pods that revisions speak of.
func owners(of ...*numbered) map[types.UID]struct{} {
	found := map[types.UID]struct{}{}
	for _, n := range of {
		if n == nil {
			continue
		}
		for _, k := range n.keys {
			found[k.owner] = struct{}{}
		}
	}
	return found
}
