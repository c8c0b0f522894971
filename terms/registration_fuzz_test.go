package terms

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// FuzzRegistration checks that the conditions which are made of the names in
// policies send us what the policies govern and nothing else, whatever is in
// the names: they become part of an expression that all namespaces share.
func FuzzRegistration(f *testing.F) {
	for _, s := range [][4]string{
		{"web", "db", "web", "a"}, {"w*b", "*", "web", "b"}, {`x"] || true || "" in ["`, "db", "web", "a"}, {`x\`, `y"`, `y"`, "b"},
		{"a*)$|(?:.*", "db", "web", "a"}, {`*\E.*`, "db", "web", "a"}, {"../b/web", "db", "web", "b"}, {"b/web", "a/web", "web", "a"},
		{"web\nx", "\u202e*", "x", "a"}, {"\xff*", "'''", "\xff", "a"}, {"*'", "${x}", "web'", "a"},
	} {
		f.Add(s[0], s[1], s[2], s[3], false)
		f.Add(s[0], s[1], s[2], s[3], true)
	}
	f.Fuzz(func(t *testing.T, one, other, name, namespace string, fail bool) {
		lease := lease("holder")
		lease.Name, lease.Namespace = strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(namespace, "?")
		if strings.ContainsAny(lease.Name+lease.Namespace, "\r\n/") {
			return // no object has such a name
		}
		set := candidates.NewPolicySet("leasewarden-system")
		for i, leases := range []string{one, other} {
			p := policy([]string{"a", "b"}[i], "p", v1alpha1.Enforce, strings.ToValidUTF8(leases, "?"))
			if fail {
				p.Spec.FailurePolicy = v1alpha1.Fail
			}
			set.Set(p)
		}
		cluster := clusterPolicy("c", &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "c"}}, strings.ToValidUTF8(one, "?"))
		set.SetCluster(cluster)
		labelled := map[string]string{"kubernetes.io/metadata.name": lease.Namespace}
		want := set.Governing(lease.Namespace, labelled, lease.Name).Policy != nil
		if got := isSent(t, scopes(set.All(), "leasewarden-system"), lease.Namespace, func(s scope, c string) bool {
			result := matcher(t, matchCondition(contestCondition, c)).Match(context.Background(), attributes(nil, lease), nil, nil)
			if result.Error != nil {
				t.Errorf("evaluating %s: %v", c, result.Error)
			}
			return result.Matches
		}); got != want {
			t.Errorf("%q in namespace %q is sent: %t, with names %q and %q", lease.Name, lease.Namespace, got, one, other)
		}
	})
}

// isSent reports whether any scope sends a write in a namespace.
func isSent(t *testing.T, all []scope, namespace string, matches func(scope, string) bool) bool {
	t.Helper()
	return slices.ContainsFunc(all, func(s scope) bool {
		selector, err := metav1.LabelSelectorAsSelector(s.namespaces)
		if err != nil {
			t.Fatal(err)
		}
		if !selector.Matches(labels.Set{"kubernetes.io/metadata.name": namespace}) {
			return false
		}
		return slices.ContainsFunc(s.conditions, func(c string) bool { return matches(s, c) })
	})
}
