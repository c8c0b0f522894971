package manifests

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Whoever may see a namespace may see every kind of ours.
func TestViewersSeeEveryKind(t *testing.T) {
	kinds, visible := sets.New[string](), sets.New[string]()
	for _, o := range kustomize(t, "default") {
		switch {
		case o.GetKind() == "CustomResourceDefinition":
			plural, _, _ := unstructured.NestedString(o.Object, "spec", "names", "plural")
			kinds.Insert(plural)
		case o.GetKind() == "ClusterRole" && o.GetName() == "leasewarden-view":
			rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
			for _, rule := range rules {
				resources, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resources")
				visible.Insert(resources...)
			}
		}
	}
	if kinds.Len() == 0 || !kinds.Equal(visible) {
		t.Errorf("the kinds are %v, and leasewarden-view has %v", sets.List(kinds), sets.List(visible))
	}
}
