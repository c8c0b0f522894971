package apischema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var policyKind = schema.GroupVersionKind{Group: "leasewarden.dev", Version: "v1alpha1", Kind: "ElectionPolicy"}

func TestAdmitProblems(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		want   []string
	}{
		"valid": {
			object: `{metadata: {name: a}, spec: {leases: {names: [x]}, strategy: {name: FirstCome}}}`,
		},
		"unknown fields, and nothing that follows from them": {
			object: `{metadata: {name: a, label: {}}, spec: {lease: {names: [x]}, strategy: {name: FirstCome, scorez: []}}}`,
			want: []string{
				`spec.lease: Forbidden: unknown field`,
				`spec.strategy.scorez: Forbidden: unknown field`,
				`metadata.label: Forbidden: unknown field`,
			},
		},
		"wrong type": {
			object: `{spec: {leases: {names: x}, strategy: {name: FirstCome}}}`,
			want: []string{
				`spec.leases.names: Invalid value: "string": spec.leases.names in body must be of type array: "string"`,
			},
		},
		"rule": {
			object: `{spec: {leases: {names: [x]}, strategy: {name: Custom, scores: [{plugin: Priority, cel: "1"}]}}}`,
			want: []string{
				`spec.strategy.scores[0]: Invalid value: exactly one of the fields in [plugin cel weightedSum] must be set`,
			},
		},
		"duplicate in a set": {
			object: `{spec: {leases: {names: [x, x]}, strategy: {name: FirstCome}}}`,
			want:   []string{`spec.leases.names[1]: Duplicate value: "x"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			problems, err := Admit(policyKind, parse(t, test.object))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdmitFillsInDefaults(t *testing.T) {
	object := parse(t, `{spec: {leases: {names: [x]}, strategy: {name: Topology, topology: {order: [a]}}}}`)
	if problems, err := Admit(policyKind, object); err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	want := parse(t, `{spec: {leases: {names: [x]}, mode: Enforce, failurePolicy: Ignore, maxPriorityDuration: 24h,
		preemption: {when: Never, minTerm: 5m, cooldown: 1m, method: DenyRenewal}, failover: {releaseOnTermination: true},
		candidates: {unregistered: Deny, verifyIdentity: true},
		strategy: {name: Topology, topology: {key: topology.kubernetes.io/zone, order: [a]}}}}`)
	if diff := cmp.Diff(want["spec"], object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestAdmitNamesTheKindsItKnows(t *testing.T) {
	_, err := Admit(schema.GroupVersionKind{Group: "leasewarden.dev", Version: "v1", Kind: "ElectionPolicy"}, nil)
	want := "leasewarden.dev/v1 ElectionPolicy is not known, known are " +
		"leasewarden.dev/v1alpha1 Candidate, leasewarden.dev/v1alpha1 ClusterElectionPolicy, " +
		"leasewarden.dev/v1alpha1 Election, leasewarden.dev/v1alpha1 ElectionPolicy"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	object["apiVersion"], object["kind"] = "leasewarden.dev/v1alpha1", "ElectionPolicy"
	return object
}

// Names become part of expressions that all namespaces share: there is nothing in
// them but what a Lease can be called, and stars.
func TestLeaseNamesAreNamesOnly(t *testing.T) {
	for name, valid := range map[string]bool{
		"web": true, "*": true, "w*b.*": true, "web-0": true,
		"other/web": false, "../web": false, "Web": false, `x"] || true || "" in ["`: false, "*)|.*": false, ".": false, "a\n*": false, `a\b`: false, "": false,
	} {
		problems, err := Admit(policyKind, map[string]any{"spec": map[string]any{
			"leases": map[string]any{"names": []any{name}}, "strategy": map[string]any{"name": "FirstCome"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if (len(problems) == 0) != valid {
			t.Errorf("%q: %v", name, problems)
		}
	}
}
