package candidates

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// All policies are registered in one object, which etcd takes up to 1.5 MiB of.
// Whoever may write policies in one namespace must not use it up for everybody.
const (
	// NamespaceBudget bounds, in bytes, what the Lease names of the policies of
	// one namespace take in the registration.
	NamespaceBudget = 32 << 10
	// NamespacesBudget is the same for all namespaces together.
	NamespacesBudget = 640 << 10
	// ClusterBudget is the same for the policies of the cluster.
	ClusterBudget = 256 << 10
)

const (
	// nameCost is what a name takes beside its characters: quotation marks and
	// a separator.
	nameCost = 4
	// globFactor bounds how much longer a name with stars is as an expression:
	// a dot is an escaped one, in a literal.
	globFactor = 3
	// entryCost bounds what an entry of the registration takes beside the names:
	// its rules, the rest of its condition, a CA bundle with two certificates.
	entryCost = 6 << 10
)

// Excess says which policies are too much for the registration, and what to do
// about it, by the references of these policies: they are left out of it and
// govern nothing. Older policies come first. own is Leasewarden's own namespace.
// It depends on its arguments alone.
func Excess(policies []*Policy, own string) map[picker.PolicyRef]string {
	policies = slices.Clone(policies)
	slices.SortFunc(policies, func(a, b *Policy) int {
		return cmp.Or(a.Created.Compare(b.Created), compareRefs(a.Ref, b.Ref))
	})
	excess := map[picker.PolicyRef]string{}
	spent := budget{namespaces: map[string]int{}, selectors: map[string]bool{}}
	for _, p := range policies {
		if !p.registers(own) {
			continue
		}
		if problem := spent.take(p); problem != "" {
			excess[p.Ref] = problem
		}
	}
	return excess
}

// budget is what was spent so far.
type budget struct {
	namespaces   map[string]int
	all, cluster int
	// selectors are those of Namespaces that have entries in the registration.
	selectors map[string]bool
}

// take spends what the policy needs, or says why it cannot be had.
func (b *budget) take(p *Policy) (problem string) {
	if p.Ref.Kind == KindClusterElectionPolicy {
		return b.takeCluster(p)
	}
	own, all := b.namespaces[p.Ref.Namespace]+p.cost, b.all+p.cost
	switch {
	case own > NamespaceBudget:
		return tooMuch("the policies of namespace "+p.Ref.Namespace, NamespaceBudget)
	case all > NamespacesBudget:
		return tooMuch("the policies of all namespaces", NamespacesBudget)
	}
	b.namespaces[p.Ref.Namespace], b.all = own, all
	return ""
}

func (b *budget) takeCluster(p *Policy) (problem string) {
	cost, key := p.cost, fmt.Sprint(p.Fails(), CanonicalSelector(p.NamespaceSelector))
	if b.selectors[key] {
		cost -= p.selectorCost()
	}
	if b.cluster+cost > ClusterBudget {
		return tooMuch("the ClusterElectionPolicies", ClusterBudget)
	}
	b.cluster += cost
	b.selectors[key] = true
	return ""
}

func tooMuch(whose string, limit int) string {
	return fmt.Sprintf("the Lease names and selectors of %s take more than the %d bytes that can be registered, and older policies come first: "+
		"name fewer Leases, or several of them by one name with a *, and delete policies that are not needed", whose, limit)
}

// registers reports whether the policy has a part in the registration, if there
// is room.
func (p *Policy) registers(own string) bool {
	reserved := p.Ref.Namespace == NodeLeaseNamespace || p.Ref.Namespace == own && own != ""
	return len(p.Errors) == 0 && p.Spec.Mode != v1alpha1.Disabled && !reserved
}

// Fails reports whether acquire attempts fail while nobody rules on them. One
// that enforces nothing must not have anything fail.
func (p *Policy) Fails() bool {
	return p.Spec.FailurePolicy == v1alpha1.Fail && p.Spec.Mode == v1alpha1.Enforce
}

// registrationCost is how many bytes the policy takes in the registration, at
// most.
func (p *Policy) registrationCost() int {
	prefix := 0
	if p.Ref.Namespace != "" {
		prefix = len(p.Ref.Namespace) + len("/")
	}
	cost := prefix + p.selectorCost()
	for _, name := range p.Spec.Leases.Names {
		n := prefix + len(name)
		if strings.Contains(name, "*") {
			n *= globFactor
		}
		cost += p.copies() * (n + nameCost)
	}
	return cost
}

// copies is how often the names are registered: with Fail, attempts and other
// writes have an entry each.
func (p *Policy) copies() int {
	if p.Fails() {
		return 2
	}
	return 1
}

// selectorCost is what a policy of the cluster takes beside its names. Those
// with the same selector take it once.
func (p *Policy) selectorCost() int {
	if p.Ref.Kind != KindClusterElectionPolicy {
		return 0
	}
	return p.copies() * (len(CanonicalSelector(p.NamespaceSelector)) + entryCost)
}

// CanonicalSelector is the same for selectors that were written alike. A nil one
// is an empty one.
func CanonicalSelector(selector *metav1.LabelSelector) string {
	if selector == nil {
		selector = &metav1.LabelSelector{}
	}
	// Maps are encoded in the order of their keys; encoding a selector cannot
	// fail.
	key, _ := json.Marshal(selector)
	return string(key)
}
