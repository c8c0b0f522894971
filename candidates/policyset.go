package candidates

import (
	"cmp"
	"slices"
	"strings"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// NodeLeaseNamespace holds the heartbeats of the nodes. Its Leases are never
// governed: nobody elects there, and a mistake would take the nodes down.
const NodeLeaseNamespace = "kube-node-lease"

// PolicySet says which policy governs a Lease. Finding it costs a map look-up,
// plus one comparison for each policy that selects by glob and could reach the
// namespace. The set is not safe for concurrent use.
type PolicySet struct {
	own        string
	policies   map[picker.PolicyRef]*Policy
	namespaced map[string]*policyIndex
	cluster    *policyIndex
	// costs are what policies take in the registration, by namespace, "" for
	// those of the cluster; total is their sum without the latter. excess counts
	// the policies that there is no room for.
	costs         map[string]int
	total, excess int
	// moved is told of each policy that begins or ceases to govern because
	// another one came, changed or went. Nil: nobody is.
	moved func(old, now *Policy)
}

// NewPolicySet makes an empty set. ownNamespace is where Leasewarden itself
// runs; its Leases are never governed. It may be empty.
func NewPolicySet(ownNamespace string) *PolicySet {
	return &PolicySet{
		own:        ownNamespace,
		policies:   map[picker.PolicyRef]*Policy{},
		namespaced: map[string]*policyIndex{},
		cluster:    newPolicyIndex(),
		costs:      map[string]int{},
	}
}

// Set adds a policy, or takes it up in a new generation, and returns it
// compiled. A generation that the set knows is not compiled again. There may be
// no room for it, or for others because of it (see Excess).
func (s *PolicySet) Set(p *v1alpha1.ElectionPolicy) *Policy {
	ref := picker.PolicyRef{Kind: KindElectionPolicy, Namespace: p.Namespace, Name: p.Name}
	if old := s.policies[ref]; old.is(p.UID, p.Generation) {
		return old
	}
	return s.replace(ref, CompilePolicy(p))
}

// SetCluster is Set for a policy of the cluster.
func (s *PolicySet) SetCluster(p *v1alpha1.ClusterElectionPolicy) *Policy {
	ref := picker.PolicyRef{Kind: KindClusterElectionPolicy, Name: p.Name}
	if old := s.policies[ref]; old.is(p.UID, p.Generation) {
		return old
	}
	return s.replace(ref, CompileClusterPolicy(p))
}

// Delete removes a policy.
func (s *PolicySet) Delete(ref picker.PolicyRef) {
	if s.drop(ref) {
		s.makeRoom(ref)
	}
}

func (s *PolicySet) replace(ref picker.PolicyRef, p *Policy) *Policy {
	s.drop(ref)
	s.put(p)
	s.makeRoom(ref)
	return s.policies[ref]
}

func (s *PolicySet) put(p *Policy) {
	s.policies[p.Ref] = p
	s.index(p.Ref).add(p)
	s.spend(p, 1)
}

func (s *PolicySet) drop(ref picker.PolicyRef) (existed bool) {
	p := s.policies[ref]
	if p == nil {
		return false
	}
	s.index(ref).remove(p)
	delete(s.policies, ref)
	s.spend(p, -1)
	return true
}

// spend counts what a policy takes in the registration.
func (s *PolicySet) spend(p *Policy, sign int) {
	if p.Excess != "" {
		s.excess += sign
	}
	if !p.registers(s.own) {
		return
	}
	if s.costs[p.Ref.Namespace] += sign * p.cost; s.costs[p.Ref.Namespace] == 0 {
		delete(s.costs, p.Ref.Namespace)
	}
	if p.Ref.Namespace != "" {
		s.total += sign * p.cost
	}
}

// makeRoom decides anew which policies there is no room for, after the one of
// that reference came, changed or went, and tells of the others. Nearly always
// there is room for all of them.
func (s *PolicySet) makeRoom(changed picker.PolicyRef) {
	room := s.total <= NamespacesBudget && s.costs[""] <= ClusterBudget &&
		(changed.Namespace == "" || s.costs[changed.Namespace] <= NamespaceBudget)
	if room && s.excess == 0 {
		return
	}
	excess := Excess(s.All(), s.own)
	var moved [][2]*Policy
	for _, old := range s.All() {
		if old.Excess == excess[old.Ref] {
			continue
		}
		now := *old
		now.Excess = excess[old.Ref]
		s.drop(old.Ref)
		s.put(&now)
		if old.Ref != changed {
			moved = append(moved, [2]*Policy{old, &now})
		}
	}
	if s.moved != nil {
		for _, m := range moved {
			s.moved(m[0], m[1])
		}
	}
}

func (s *PolicySet) index(ref picker.PolicyRef) *policyIndex {
	if ref.Kind == KindClusterElectionPolicy {
		return s.cluster
	}
	if s.namespaced[ref.Namespace] == nil {
		s.namespaced[ref.Namespace] = newPolicyIndex()
	}
	return s.namespaced[ref.Namespace]
}

// Get returns the policy of that reference, or nil.
func (s *PolicySet) Get(ref picker.PolicyRef) *Policy { return s.policies[ref] }

// All returns the policies, the invalid and disabled ones too, by kind,
// namespace and name.
func (s *PolicySet) All() []*Policy {
	all := make([]*Policy, 0, len(s.policies))
	for _, p := range s.policies {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Policy) int { return compareRefs(a.Ref, b.Ref) })
	return all
}

// Governance says which policy governs a Lease.
type Governance struct {
	// Policy is the one that does. Nil: none.
	Policy *Policy
	// Overruled are the others that select the Lease, the next in line first.
	Overruled []picker.PolicyRef
}

// Governing says which policy governs the Lease: one of its namespace before
// one of the cluster, then the older, then the one whose name comes first.
// Disabled and invalid policies, and those that there is no room for, govern
// nothing and overrule nothing.
func (s *PolicySet) Governing(namespace string, namespaceLabels map[string]string, lease string) Governance {
	if namespace == NodeLeaseNamespace || namespace == s.own && s.own != "" {
		return Governance{}
	}
	selecting := s.namespaced[namespace].selecting(nil, lease, nil)
	selecting = s.cluster.selecting(selecting, lease, namespaceLabels)
	if len(selecting) == 0 {
		return Governance{}
	}
	slices.SortFunc(selecting, precedence)
	g := Governance{Policy: selecting[0]}
	for _, p := range selecting[1:] {
		g.Overruled = append(g.Overruled, p.Ref)
	}
	return g
}

// precedence puts the policy that wins first.
func precedence(a, b *Policy) int {
	if a.Ref.Kind != b.Ref.Kind {
		if a.Ref.Kind == KindElectionPolicy {
			return -1
		}
		return 1
	}
	if n := a.Created.Compare(b.Created); n != 0 {
		return n
	}
	return strings.Compare(a.Ref.Name, b.Ref.Name)
}

func compareRefs(a, b picker.PolicyRef) int {
	return cmp.Or(
		strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
	)
}

// policyIndex finds policies by the Lease names they select.
type policyIndex struct {
	exact map[string][]*Policy
	globs []*Policy
}

func newPolicyIndex() *policyIndex { return &policyIndex{exact: map[string][]*Policy{}} }

func (x *policyIndex) add(p *Policy) {
	if !p.Governs() {
		return
	}
	for _, name := range p.names.exact {
		x.exact[name] = append(x.exact[name], p)
	}
	if len(p.names.globs) > 0 {
		x.globs = append(x.globs, p)
	}
}

func (x *policyIndex) remove(p *Policy) {
	same := func(o *Policy) bool { return o == p }
	for _, name := range p.names.exact {
		if x.exact[name] = slices.DeleteFunc(x.exact[name], same); len(x.exact[name]) == 0 {
			delete(x.exact, name)
		}
	}
	x.globs = slices.DeleteFunc(x.globs, same)
}

// selecting appends the policies that select the Lease.
func (x *policyIndex) selecting(to []*Policy, lease string, namespaceLabels map[string]string) []*Policy {
	if x == nil {
		return to
	}
	for _, p := range x.exact[lease] {
		if p.governsNamespace(namespaceLabels) && !slices.Contains(to, p) {
			to = append(to, p)
		}
	}
	for _, p := range x.globs {
		if p.names.matchesGlob(lease) && p.governsNamespace(namespaceLabels) && !slices.Contains(to, p) {
			to = append(to, p)
		}
	}
	return to
}
