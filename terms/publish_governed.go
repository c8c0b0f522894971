package terms

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/picker"
)

// governed knows which policies select each Lease that exists. The zero value
// is ready, and safe for concurrent use.
type governed struct {
	mu     sync.Mutex
	leases map[types.NamespacedName]claims
	counts map[picker.PolicyRef]int
	lost   map[picker.PolicyRef]map[types.NamespacedName]picker.PolicyRef
}

// claims are the policy that governs a Lease and those that it overruled.
type claims struct {
	winner picker.PolicyRef
	losers []picker.PolicyRef
}

// defeat is a Lease that a policy selects and another one governs.
type defeat struct {
	lease  types.NamespacedName
	winner picker.PolicyRef
}

// set notes the policies of a Lease, and returns those whose share changed.
func (g *governed) set(key types.NamespacedName, winner picker.PolicyRef, losers []picker.PolicyRef) []picker.PolicyRef {
	g.mu.Lock()
	defer g.mu.Unlock()
	old, known := g.leases[key]
	if known && old.winner == winner && slices.Equal(old.losers, losers) {
		return nil
	}
	touched := g.drop(key)
	if g.leases == nil {
		g.leases = map[types.NamespacedName]claims{}
		g.counts = map[picker.PolicyRef]int{}
		g.lost = map[picker.PolicyRef]map[types.NamespacedName]picker.PolicyRef{}
	}
	g.leases[key] = claims{winner: winner, losers: losers}
	g.counts[winner]++
	for _, loser := range losers {
		if g.lost[loser] == nil {
			g.lost[loser] = map[types.NamespacedName]picker.PolicyRef{}
		}
		g.lost[loser][key] = winner
	}
	return append(append(touched, winner), losers...)
}

// remove forgets a Lease, and returns the policies whose share changed.
func (g *governed) remove(key types.NamespacedName) []picker.PolicyRef {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drop(key)
}

func (g *governed) drop(key types.NamespacedName) []picker.PolicyRef {
	old, known := g.leases[key]
	if !known {
		return nil
	}
	delete(g.leases, key)
	if g.counts[old.winner]--; g.counts[old.winner] == 0 {
		delete(g.counts, old.winner)
	}
	for _, loser := range old.losers {
		if delete(g.lost[loser], key); len(g.lost[loser]) == 0 {
			delete(g.lost, loser)
		}
	}
	return append([]picker.PolicyRef{old.winner}, old.losers...)
}

// of returns how many Leases a policy governs, and the Leases that it selects
// in vain, in order.
func (g *governed) of(ref picker.PolicyRef) (leases int, defeats []defeat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range slices.SortedFunc(maps.Keys(g.lost[ref]), compareKeys) {
		defeats = append(defeats, defeat{lease: key, winner: g.lost[ref][key]})
	}
	return g.counts[ref], defeats
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
