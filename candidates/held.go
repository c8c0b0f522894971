package candidates

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// heldCount counts the governed Leases that are held on each node.
type heldCount struct {
	byNode map[string]int
	nodes  map[types.NamespacedName]string
}

func newHeldCount() heldCount {
	return heldCount{byNode: map[string]int{}, nodes: map[types.NamespacedName]string{}}
}

// set notes the node that the Lease is held on; "" for none.
func (h heldCount) set(lease types.NamespacedName, node string) {
	if old := h.nodes[lease]; old != "" {
		if h.byNode[old]--; h.byNode[old] == 0 {
			delete(h.byNode, old)
		}
		delete(h.nodes, lease)
	}
	if node != "" {
		h.byNode[node]++
		h.nodes[lease] = node
	}
}

// others counts the Leases other than this one.
func (h heldCount) others(except types.NamespacedName) map[string]int {
	count := maps.Clone(h.byNode)
	if node := h.nodes[except]; node != "" {
		count[node]--
	}
	return count
}

// electionNode is the node of the holder that an Election names.
func electionNode(e *v1alpha1.Election) string {
	if e == nil || e.Status.Holder == nil {
		return ""
	}
	for i := range e.Status.Candidates {
		if e.Status.Candidates[i].Name == e.Status.Holder.Name {
			return e.Status.Candidates[i].Node
		}
	}
	return ""
}
