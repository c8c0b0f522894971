package api

import (
	"encoding/json"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Object is one version of an object. It does not change.
type Object struct {
	metav1.ObjectMeta
	// Lease is the object, if it is one: Leases are written all the time, and
	// only then is it worth not to encode them.
	Lease *coordinationv1.Lease

	version uint64
	raw     []byte
}

// newObject keeps an encoded object.
func newObject(raw []byte) (*Object, error) {
	var o struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	return &Object{ObjectMeta: o.Metadata, raw: raw}, nil
}

// newLease keeps a Lease, which must not be changed any more.
func newLease(l *coordinationv1.Lease) *Object { return &Object{ObjectMeta: l.ObjectMeta, Lease: l} }

// JSON is the object, encoded. It must be called with the Server's lock held.
func (o *Object) JSON() []byte {
	if o.raw == nil {
		l := *o.Lease
		l.APIVersion, l.Kind = coordinationv1.SchemeGroupVersion.String(), "Lease"
		o.raw = must(json.Marshal(&l))
	}
	return o.raw
}

// metadata is the object's metadata alone, as clients may ask for it.
func (o *Object) metadata() []byte {
	return must(json.Marshal(metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: o.ObjectMeta,
	}))
}

func (o *Object) key() string { return o.Namespace + "/" + o.Name }

// fieldsOf is an encoded object, to be changed.
func fieldsOf(raw []byte) (map[string]any, error) {
	f := map[string]any{}
	return f, json.Unmarshal(raw, &f)
}

func metadataOf(f map[string]any) map[string]any {
	m, ok := f["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		f["metadata"] = m
	}
	return m
}

// selection is what a list or a watch is of.
type selection struct {
	resource, namespace string
	labels              labels.Selector
	fields              fields.Selector
	metadata            bool
}

func (s *selection) selects(o *Object) bool {
	return o != nil && (s.namespace == "" || o.Namespace == s.namespace) && s.labels.Matches(labels.Set(o.Labels)) &&
		s.fields.Matches(fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace})
}

func (s *selection) shape(o *Object) []byte {
	if s.metadata {
		return o.metadata()
	}
	return o.JSON()
}

// must is for encoding what can be encoded.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("simulated API server: %v", err))
	}
	return v
}
