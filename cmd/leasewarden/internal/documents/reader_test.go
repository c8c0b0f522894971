package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const policy = `apiVersion: leasewarden.dev/v1alpha1
kind: ElectionPolicy
metadata: {name: a, namespace: kube-system}
spec: {leases: {names: [x]}, strategy: {name: FirstCome}}
`

// read reads text as standard input, and tells what is in it.
func read(text string) (objects []string, set *Set, err error) {
	set, err = Reader{Stdin: strings.NewReader(text)}.Read(Stdin)
	return describe(set), set, err
}

func describe(set *Set) []string {
	var objects []string
	for _, o := range set.Objects() {
		objects = append(objects, fmt.Sprintf("%s %s/%s: %s", o.Kind.Kind, o.GetNamespace(), o.GetName(), o.Origin))
	}
	return objects
}

func TestReadFindsObjects(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing": {},
		"documents that are empty do not count": {
			text: "---\n# only a comment\n---\n\n--- # with a comment\n" + policy + "---\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-1}}\n",
			want: []string{"ElectionPolicy kube-system/a: standard input: document 1", "Node /node-1: standard input: document 2"},
		},
		"a list as kubectl prints it": {
			text: `{apiVersion: v1, kind: List, items: [
				{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a}},
				{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l, namespace: a}}]}`,
			want: []string{"Lease a/l: standard input: document 1, item 2", "Pod a/p: standard input: document 1, item 1"},
		},
		"a list as the API server sends it": {
			text: "apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: p, namespace: a}}]\n",
			want: []string{"Pod a/p: standard input: document 1, item 1"},
		},
		"a list of our own": {
			text: "apiVersion: leasewarden.dev/v1alpha1\nkind: CandidateList\nitems: [{metadata: {name: c}, spec: {leaseName: l, hostname: h}}]\n",
			want: []string{"Candidate default/c: standard input: document 1, item 1"},
		},
		"JSON objects one after the other": {
			text: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-0"}}{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-1"}}`,
			want: []string{"Node /node-0: standard input: document 1", "Node /node-1: standard input: document 2"},
		},
		"both versions of LeaseCandidate": {
			text: "{apiVersion: coordination.k8s.io/v1beta1, kind: LeaseCandidate, metadata: {name: b, namespace: a}}\n---\n" +
				"{apiVersion: coordination.k8s.io/v1alpha2, kind: LeaseCandidate, metadata: {name: c, namespace: a}}\n",
			want: []string{"LeaseCandidate a/b: standard input: document 1", "LeaseCandidate a/c: standard input: document 2"},
		},
		"fields of other APIs that are not known": {
			text: "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {fromTheFuture: 1}}",
			want: []string{"Pod default/p: standard input: document 1"},
		},
		"a cluster-scoped object has no namespace": {
			text: "{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}",
			want: []string{"Namespace /a: standard input: document 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := read(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"broken YAML": {
			text: policy + "---\na: [\n",
			want: "standard input: document 2: yaml: line 1: did not find expected node content",
		},
		"broken JSON": {
			text: `{"apiVersion":"v1"]`,
			want: "standard input: document 1: is not JSON: invalid character ']' after object key:value pair",
		},
		"no time": {
			text: "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, namespace: x}\nspec: {holderIdentity: a, renewTime: '2026-01-01'}\n",
			want: `standard input: document 1: Lease x/a: spec.renewTime: "2026-01-01" is not a time such as 2026-01-31T15:04:05.000000Z`,
		},
		"no time in a list": {
			text: "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: x}\nstatus: {conditions: [{type: Ready, status: 'True', lastTransitionTime: now}]}\n",
			want: `standard input: document 1: Pod x/a: status.conditions[0].lastTransitionTime: "now" is not a time such as 2026-01-31T15:04:05.000000Z`,
		},
		"no object": {
			text: "just text",
			want: "standard input: document 1: is not a Kubernetes object: must not be of type string",
		},
		"no kind": {
			text: "image: {tag: v1}",
			want: "standard input: document 1: is not a Kubernetes object: kind: Required value",
		},
		"unknown fields, all of them": {
			text: strings.Replace(policy, "names: [x]", "names: [x], nmes: []", 1) + "---\n" +
				strings.NewReplacer("name: a,", "name: b,", "strategy", "strategie").Replace(policy),
			want: "standard input: document 1: ElectionPolicy kube-system/a: spec.leases.nmes: Forbidden: unknown field\n" +
				"standard input: document 2: ElectionPolicy kube-system/b: spec.strategie: Forbidden: unknown field",
		},
		"a key that is given twice": {
			text: policy + "spec: {}\n",
			want: `standard input: document 1: yaml: unmarshal errors:
  line 5: key "spec" already set in map`,
		},
		"a key that is given twice in JSON": {
			text: `{"apiVersion":"leasewarden.dev/v1alpha1","kind":"Candidate","metadata":{"name":"c"},"spec":{"leaseName":"l","leaseName":"m","hostname":"h"}}`,
			want: `standard input: document 1: Candidate default/c: duplicate field "spec.leaseName"`,
		},
		"a kind of ours that does not exist": {
			text: strings.Replace(policy, "v1alpha1", "v1", 1),
			want: "standard input: document 1: ElectionPolicy kube-system/a: leasewarden.dev/v1 ElectionPolicy is not known, known are " +
				"leasewarden.dev/v1alpha1 Candidate, leasewarden.dev/v1alpha1 ClusterElectionPolicy, leasewarden.dev/v1alpha1 Election, leasewarden.dev/v1alpha1 ElectionPolicy",
		},
		"an object that is given twice": {
			text: policy + "---\n" + policy,
			want: "standard input: document 2: ElectionPolicy kube-system/a: is given twice, first in standard input: document 1",
		},
		"a wrong type in another API": {
			text: "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a}, spec: {nodeName: [n]}}",
			want: "standard input: document 1: Pod a/p: spec.nodeName: must not be of type array",
		},
		"a version that is not read": {
			text: "{apiVersion: coordination.k8s.io/v1, kind: LeaseCandidate, metadata: {name: c, namespace: a}}",
			want: `standard input: document 1: LeaseCandidate a/c: apiVersion: Unsupported value: "coordination.k8s.io/v1": ` +
				`supported values: "coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1"`,
		},
		"no name": {
			text: "{apiVersion: v1, kind: Pod, metadata: {generateName: p-}}",
			want: "standard input: document 1: Pod default/: metadata.name: Required value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(test.text)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadCountsWhatItLeavesOut(t *testing.T) {
	_, set, err := read("{apiVersion: apps/v1, kind: Deployment}\n---\n{apiVersion: apps/v1, kind: Deployment}\n---\n{apiVersion: v1, kind: Secret}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"apps/v1 Deployment": 2, "v1 Secret": 1}
	if diff := cmp.Diff(want, set.Ignored()); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
}

func TestReadDirectory(t *testing.T) {
	directory := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":    policy,
		"b.json":    `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-1"}}`,
		"c.yml":     "{apiVersion: v1, kind: Node, metadata: {name: node-2}}",
		"README.md": "no manifest",
	} {
		write(t, filepath.Join(directory, name), text)
	}
	set, err := Reader{}.Read(directory)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ElectionPolicy kube-system/a: " + directory + "/a.yaml: document 1",
		"Node /node-1: " + directory + "/b.json: document 1",
		"Node /node-2: " + directory + "/c.yml: document 1",
	}
	if diff := cmp.Diff(want, describe(set)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestReadTakesTheLaterFile(t *testing.T) {
	directory := t.TempDir()
	dump, change := filepath.Join(directory, "dump.yaml"), filepath.Join(directory, "change.yaml")
	write(t, dump, policy)
	write(t, change, policy)
	set, err := Reader{}.Read(dump, change)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ElectionPolicy kube-system/a: " + change + ": document 1"}
	if diff := cmp.Diff(want, describe(set)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestReadNamesFilesThatAreMissing(t *testing.T) {
	_, err := Reader{}.Read("none.yaml")
	if err == nil || err.Error() != "stat none.yaml: no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
