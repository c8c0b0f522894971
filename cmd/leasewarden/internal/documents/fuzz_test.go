package documents

import (
	"strings"
	"testing"
)

// FuzzDecode: whatever is read, it ends in objects with a name or in an error,
// and never in a panic.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "---", "null", "[]", "{", "{}", "a: b", "\x00", "\ufeff" + policy, policy, strings.ReplaceAll(policy, "\n", "\r\n"),
		policy + "---\n" + policy,
		"apiVersion: v1\nkind: List\nitems: [null, 1, {}, {kind: List, apiVersion: v1, items: [null]}]\n",
		"apiVersion: leasewarden.dev/v1alpha1\nkind: ElectionPolicyList\nitems: [null, {metadata: null}, {spec: []}]\n",
		"apiVersion: a/b/c\nkind: Pod\n",
		"apiVersion: 1\nkind: 2\n",
		"{apiVersion: leasewarden.dev/v1alpha1, kind: Candidate, metadata: {name: c, labels: []}, spec: null}",
		"{apiVersion: leasewarden.dev/v1alpha1, kind: Candidate, metadata: {name: c}, spec: {leaseName: l, hostname: h, priority: 1e300, ttlSeconds: -1}}",
		"{apiVersion: leasewarden.dev/v1alpha1, kind: ElectionPolicy, metadata: {name: c}, spec: {acquireDeadline: 1, leases: {names: [null]}, strategy: {scores: [{args: {a: [1.5, null]}}]}}}",
		"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l}, spec: {renewTime: 1, leaseDurationSeconds: a}}",
		"{apiVersion: v1, kind: Pod, metadata: {name: p, creationTimestamp: yesterday}}",
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}{"apiVersion"`,
		"a: &a [*a]", "a: &a {b: 1}\nc: {<<: *a}", "? [a]\n: b\n", "!!binary x: y", "--- !x\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, set, _ := read(text)
		for _, o := range set.Objects() {
			if o.GetName() == "" || o.Origin.Document == 0 {
				t.Errorf("%q gives an object %+v", text, o)
			}
		}
	})
}
