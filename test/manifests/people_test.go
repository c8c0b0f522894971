package manifests

import (
	"strings"
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

// Whoever may edit a namespace, or all of it, may move its leaders. Who the
// candidates are and what is said of an election is not theirs to write.
func TestPeopleMoveLeadersOnly(t *testing.T) {
	looks := sets.New("get", "list", "watch")
	roles := 0
	for _, o := range kustomize(t, "default") {
		if o.GetKind() != "ClusterRole" || !aggregates(o) {
			continue
		}
		roles++
		rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
		for _, rule := range rules {
			verbs, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "verbs")
			resources, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resources")
			if !looks.HasAll(verbs...) && !sets.New("elections").HasAll(resources...) {
				t.Errorf("%s lets people %v %v", o.GetName(), verbs, resources)
			}
		}
	}
	if roles != 2 {
		t.Errorf("%d ClusterRoles are part of the built-in ones, want 2", roles)
	}
}

// aggregates reports whether a ClusterRole is part of a built-in one.
func aggregates(o *unstructured.Unstructured) bool {
	for key := range o.GetLabels() {
		if strings.HasPrefix(key, "rbac.authorization.k8s.io/aggregate-to-") {
			return true
		}
	}
	return false
}
