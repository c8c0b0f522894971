package candidates

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// index finds objects by a key that they name. It gives them in the order of
// their names.
type index[K comparable, T metav1.Object] map[K]map[string]T

func (x index[K, T]) add(key K, o T) {
	if x[key] == nil {
		x[key] = map[string]T{}
	}
	x[key][o.GetName()] = o
}

func (x index[K, T]) remove(key K, o T) {
	delete(x[key], o.GetName())
	if len(x[key]) == 0 {
		delete(x, key)
	}
}

func (x index[K, T]) list(key K) []T {
	found := x[key]
	if len(found) == 0 {
		return nil
	}
	list := make([]T, 0, len(found))
	for _, o := range found {
		list = append(list, o)
	}
	slices.SortFunc(list, compareNames)
	return list
}
