package plugins

import (
	"fmt"
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func TestSpread(t *testing.T) {
	s := stateOf(
		picker.Candidate{Name: "idle", Node: "n0"},
		picker.Candidate{Name: "busy", Node: "n3"},
		picker.Candidate{Name: "holder", Node: "n1"},
		picker.Candidate{Name: "off-cluster"},
	)
	s.Lease = picker.Lease{Holder: "holder", HeldByNode: map[string]int{"n1": 1, "n3": 3, "": 9}}
	checkScores(t, Spread{}, s, map[string]string{"idle": "0", "busy": "-3", "holder": "-0.5", "off-cluster": "0"})
}

func TestSpreadMovesOnlyToImprove(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Spread})
	for _, test := range []struct {
		name      string
		here      int // other Leases on the incumbent's node
		there     int
		chosen    string
		criterion string
	}{
		{"as many on both nodes", 1, 1, "incumbent", SpreadName},
		{"the other node would have one more", 0, 1, "incumbent", SpreadName},
		{"swapping the loads improves nothing", 1, 1, "incumbent", SpreadName},
		{"one fewer after the move", 1, 0, "other", SpreadName},
		{"many fewer", 9, 0, "other", SpreadName},
	} {
		for _, vacant := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, vacant %v", test.name, vacant), func(t *testing.T) {
				s := stateOf(
					picker.Candidate{Name: "other", Node: "there", Created: noon},
					picker.Candidate{Name: "incumbent", Node: "here", Created: noon.Add(1)},
				)
				s.Lease = picker.Lease{Holder: "incumbent", HeldByNode: map[string]int{"here": test.here, "there": test.there}}
				if vacant {
					s.Lease.Holder, s.Lease.LastHolder = "", "incumbent"
				}
				checkDecision(t, policy, s, test.chosen, test.criterion)
			})
		}
	}
}

// Leases that move one at a time come to rest, and evenly.
func TestSpreadComesToRest(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Spread})
	nodes := []string{"n0", "n1", "n2"}
	holders := []string{"n0", "n0", "n0", "n0", "n0", "n1", "n1"} // node of each Lease's holder
	moves := 0
	for moved := true; moved; {
		moved = false
		for lease := range holders {
			s := spreadState(nodes, holders, lease)
			if next := picker.Decide(policy, s).Chosen.Node; next != holders[lease] {
				holders[lease], moved = next, true
				moves++
			}
		}
		if moves > len(holders) {
			t.Fatalf("%d moves of %d Leases, and no rest", moves, len(holders))
		}
	}
	if moves != 2 {
		t.Errorf("%d moves, want the 2 that are needed", moves)
	}
	held := map[string]int{}
	for _, node := range holders {
		held[node]++
	}
	for _, node := range nodes {
		if held[node] < 2 {
			t.Errorf("%s holds %d Leases, want 2 or 3: %v", node, held[node], held)
		}
	}
}

// spreadState is the state of one of the Leases; its candidate on each node has
// the node's name.
func spreadState(nodes, holders []string, lease int) *picker.State {
	s := stateOf()
	for _, node := range nodes {
		s.Candidates = append(s.Candidates, picker.Candidate{Name: node, Node: node})
	}
	s.Lease = picker.Lease{Holder: holders[lease], HeldByNode: map[string]int{}}
	for other, node := range holders {
		if other != lease {
			s.Lease.HeldByNode[node]++
		}
	}
	return s
}
