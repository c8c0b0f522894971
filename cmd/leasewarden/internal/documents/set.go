package documents

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Object is an object and where it was read.
type Object struct {
	client.Object
	Kind   schema.GroupVersionKind
	Origin Origin
}

// Set is what was read. An object that is in several files counts as the last
// of them has it, so that a change can be tried on top of a cluster's dump.
type Set struct {
	objects map[key]Object
	ignored map[schema.GroupVersionKind]int
}

type key struct {
	kind schema.GroupKind
	name types.NamespacedName
}

func newSet() *Set {
	return &Set{objects: map[key]Object{}, ignored: map[schema.GroupVersionKind]int{}}
}

// Objects returns the objects by kind, namespace and name.
func (s *Set) Objects() []Object {
	return slices.SortedFunc(maps.Values(s.objects), func(a, b Object) int {
		return cmp.Or(
			strings.Compare(a.Kind.GroupKind().String(), b.Kind.GroupKind().String()),
			strings.Compare(a.GetNamespace(), b.GetNamespace()),
			strings.Compare(a.GetName(), b.GetName()),
		)
	})
}

// OriginOf says where the object of that kind and name was read.
func (s *Set) OriginOf(kind schema.GroupKind, namespace, name string) (Origin, bool) {
	o, ok := s.objects[key{kind, types.NamespacedName{Namespace: namespace, Name: name}}]
	return o.Origin, ok
}

// Ignored counts the objects that were left out, by kind, as "apps/v1
// Deployment".
func (s *Set) Ignored() map[string]int {
	counts := make(map[string]int, len(s.ignored))
	for kind, n := range s.ignored {
		counts[display(kind)] = n
	}
	return counts
}

// add returns where the same file has the object already, if it does.
func (s *Set) add(o Object) (twin Origin, twice bool) {
	k := key{o.Kind.GroupKind(), client.ObjectKeyFromObject(o.Object)}
	if old, ok := s.objects[k]; ok && old.Origin.File == o.Origin.File {
		return old.Origin, true
	}
	s.objects[k] = o
	return Origin{}, false
}

// display is a kind as a manifest spells it.
func display(kind schema.GroupVersionKind) string {
	return kind.GroupVersion().String() + " " + kind.Kind
}
