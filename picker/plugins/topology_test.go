package plugins

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func inZone(name, zone string) picker.Candidate {
	return picker.Candidate{Name: name, Created: noon, NodeLabels: map[string]string{"topology.kubernetes.io/zone": zone}}
}

func TestTopology(t *testing.T) {
	score, err := newTopology(json.RawMessage(`{"order": ["a", "b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, score, stateOf(inZone("in a", "a"), inZone("in b", "b"), inZone("in c", "c"), picker.Candidate{Name: "nowhere"}),
		map[string]string{"in a": "2", "in b": "1", "in c": "0", "nowhere": "0"})
}

func TestTopologyStrategy(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{
		Name:     v1alpha1.Topology,
		Topology: &v1alpha1.TopologyPreference{Order: []string{"a", "b"}},
	})
	checkDecision(t, policy, stateOf(inZone("3", "c"), inZone("2", "b"), inZone("1", "a")), "1", TopologyName)
	checkDecision(t, policy, stateOf(inZone("3", "c"), inZone("2", "b")), "2", TopologyName)
	checkDecision(t, policy, stateOf(inZone("3", "c"), inZone("4", "d")), "3", picker.CriterionOldest)
}

func TestTopologyArguments(t *testing.T) {
	var many []string
	for i := range 65 {
		many = append(many, fmt.Sprintf("%q", fmt.Sprint("zone", i)))
	}
	for args, want := range map[string]string{
		``:                             `field "order" must list at least one value`,
		`null`:                         `field "order" must list at least one value`,
		`{"order": []}`:                `field "order" must list at least one value`,
		`{"order": ["a", "a"]}`:        `field "order" lists "a" twice`,
		`{"order": "a"}`:               `field "order" has the wrong type: string`,
		`{"order": [1]}`:               `field "order" has the wrong type: number`,
		`{"order": ["a"], "keys": ""}`: `unknown field "keys"`,
		`{"order": ["a"], "key": "/"}`: `field "key" is not the key of a label`,
		`[]`:                           `must be an object, has the wrong type: array`,
		`{"order": ["a"]`:              `is not complete JSON`,
		`{"order": ["a"]} {}`:          `must be one JSON object`,
		`{"order": [` + strings.Join(many, ",") + `]}`: `field "order" lists 65 values, at most 64 may be listed`,
	} {
		_, err := newTopology(json.RawMessage(args))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}
