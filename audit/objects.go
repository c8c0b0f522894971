package audit

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/audit/auditlog"
	"github.com/leasewarden/leasewarden/candidates"
)

// resources are those that events are wanted of, besides Leases: what
// candidates are made from and changes while a log is written.
var resources = map[string]func() runtime.Object{
	"pods":                func() runtime.Object { return &corev1.Pod{} },
	"leasecandidates":     func() runtime.Object { return &coordinationv1beta1.LeaseCandidate{} },
	"candidates":          func() runtime.Object { return &v1alpha1.Candidate{} },
	"replicasets":         func() runtime.Object { return &appsv1.ReplicaSet{} },
	"controllerrevisions": func() runtime.Object { return &appsv1.ControllerRevision{} },
}

// takeObject takes up a write to something that candidates are made from.
func takeObject(to *candidates.Replay, e *auditlog.Event) {
	key := types.NamespacedName{Namespace: e.Ref.Namespace, Name: e.Ref.Name}
	switch {
	case e.Ref.Subresource == "eviction":
		terminate(to, key, e.Time)
	case e.Ref.Subresource != "" && e.Ref.Subresource != "status":
	case e.Verb == "delete":
		takeDelete(to, e, key)
	default:
		takeWrite(to, e)
	}
}

// takeWrite goes by the answer. What was asked for will do where it is the
// whole object.
func takeWrite(to *candidates.Replay, e *auditlog.Event) {
	raw := e.Response
	if raw == nil && e.Verb != "patch" {
		raw = e.Request
	}
	if raw == nil || e.Ref.Resource == "pods" && !to.SelectsPod(e.Ref.Namespace, labelsOf(raw)) {
		return
	}
	if o := decodeObject(raw, e); o != nil {
		to.Add(o)
	}
}

// takeDelete goes by the answer, too: an object that is still there has a time
// at which its deletion began.
func takeDelete(to *candidates.Replay, e *auditlog.Event, key types.NamespacedName) {
	switch e.Ref.Resource {
	case "pods":
		pod, ok := decodeObject(e.Response, e).(*corev1.Pod)
		if ok && pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds > 0 {
			to.Add(pod)
			return
		}
		to.RemovePod(key)
	case "leasecandidates":
		to.RemoveLeaseCandidate(key)
	case "candidates":
		to.RemoveCandidate(key)
	}
}

// terminate notes that a Pod was evicted.
func terminate(to *candidates.Replay, key types.NamespacedName, at time.Time) {
	if pod := to.Pod(key); pod != nil && pod.DeletionTimestamp == nil {
		pod = pod.DeepCopy()
		deleted := metav1.NewTime(at)
		pod.DeletionTimestamp = &deleted
		to.Add(pod)
	}
}

// decodeObject returns nil for what is another object, such as the Status that
// says that it is gone, or has no name yet.
func decodeObject(raw []byte, e *auditlog.Event) runtime.Object {
	o := resources[e.Ref.Resource]()
	if raw == nil || kjson.UnmarshalCaseSensitivePreserveInts(raw, o) != nil {
		return nil
	}
	meta := o.(metav1.Object)
	if kind := o.GetObjectKind().GroupVersionKind().Kind; kind == "Status" || meta.GetName() == "" {
		return nil
	}
	if meta.GetNamespace() == "" {
		meta.SetNamespace(e.Ref.Namespace)
	}
	if created := meta.GetCreationTimestamp(); created.IsZero() {
		meta.SetCreationTimestamp(metav1.NewTime(e.Time))
	}
	return o
}

// labelsOf reads an object only as far as its labels: most Pods are nobody's
// candidates.
func labelsOf(raw []byte) map[string]string {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if !enter(d, "metadata") || !enter(d, "labels") {
		return nil
	}
	value, err := d.ReadValue()
	if err != nil {
		return nil
	}
	var labels map[string]string
	if json.Unmarshal(value, &labels) != nil {
		return nil
	}
	return labels
}

// enter goes into an object, up to the value of the field of that name, and
// reports whether it has one.
func enter(d *jsontext.Decoder, name string) bool {
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return false
	}
	for d.PeekKind() == '"' {
		field, err := d.ReadToken()
		if err != nil {
			return false
		}
		if field.String() == name {
			return true
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return false
}
