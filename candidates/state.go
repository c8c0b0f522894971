package candidates

import (
	"maps"

	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// state is what the watches of a Cache brought, indexed. It has no lock: the
// Cache has.
type state struct {
	policies        *PolicySet
	namespaces      map[string]map[string]string
	nodes           map[string]map[string]string
	scopes          map[scope]*podScope
	leaseCandidates index[types.NamespacedName, *coordinationv1beta1.LeaseCandidate]
	candidates      index[types.NamespacedName, *v1alpha1.Candidate]
	// registrations counts, by namespace, the Candidates that attempts made.
	registrations map[string]int
	elections     map[types.NamespacedName]*v1alpha1.Election
	held          heldCount
	tracking      *tracking
	// touched are the tracked Leases that something was changed for since they
	// were last taken.
	touched map[types.NamespacedName]struct{}
	// policiesTouched says that a policy was changed since it was last taken.
	policiesTouched bool
}

// scope is what one watch on Pods selects. An empty namespace is all of them.
type scope struct{ namespace, selector string }

// podScope is a scope in use.
type podScope struct {
	pool *podPool
	// revisions are those of the owners of these Pods.
	revisions revisions
	// departed are Pods that were deleted.
	departed *departed
	// users are the policies that need the scope.
	users map[*Policy]struct{}
	// filled reports whether the first list has arrived.
	filled func() bool
}

var _ Objects = &state{}

func newState(ownNamespace string) *state {
	return &state{
		policies:        NewPolicySet(ownNamespace),
		namespaces:      map[string]map[string]string{},
		nodes:           map[string]map[string]string{},
		scopes:          map[scope]*podScope{},
		leaseCandidates: index[types.NamespacedName, *coordinationv1beta1.LeaseCandidate]{},
		candidates:      index[types.NamespacedName, *v1alpha1.Candidate]{},
		registrations:   map[string]int{},
		elections:       map[types.NamespacedName]*v1alpha1.Election{},
		held:            newHeldCount(),
		tracking:        newTracking(),
		touched:         map[types.NamespacedName]struct{}{},
	}
}

func (s *state) governing(key types.NamespacedName) Governance {
	return s.policies.Governing(key.Namespace, namespaceLabels(key.Namespace, s.namespaces[key.Namespace]), key.Name)
}

// scopeOf is the scope that has the Pods of a policy in a namespace, or nil.
// One for the whole cluster serves every namespace.
func (s *state) scopeOf(p *Policy, namespace string) *podScope {
	if own := s.scopes[scope{namespace, p.pods.key}]; own != nil {
		return own
	}
	return s.scopes[scope{"", p.pods.key}]
}

// Pods implements Objects.
func (s *state) Pods(p *Policy, lease types.NamespacedName) []*corev1.Pod {
	if sc := s.scopeOf(p, lease.Namespace); sc != nil {
		return sc.pool.candidates(p.pods, lease)
	}
	return nil
}

// NodeLabels implements Objects.
func (s *state) NodeLabels(name string) map[string]string { return s.nodes[name] }

// LeaseCandidates implements Objects.
func (s *state) LeaseCandidates(lease types.NamespacedName) []*coordinationv1beta1.LeaseCandidate {
	return s.leaseCandidates.list(lease)
}

// Candidates implements Objects.
func (s *state) Candidates(lease types.NamespacedName) []*v1alpha1.Candidate {
	return s.candidates.list(lease)
}

// Election implements Objects.
func (s *state) Election(lease types.NamespacedName) *v1alpha1.Election { return s.elections[lease] }

// HeldByNode implements Objects.
func (s *state) HeldByNode(except types.NamespacedName) map[string]int {
	return s.held.others(except)
}

// RevisionNumber implements Objects.
func (s *state) RevisionNumber(p *Policy, pod *corev1.Pod) int64 {
	if sc := s.scopeOf(p, pod.Namespace); sc != nil {
		return sc.revisions.number(pod)
	}
	return 0
}

// touch notes that something was changed for a Lease.
func (s *state) touch(key types.NamespacedName) {
	if s.tracking.has(key) {
		s.touched[key] = struct{}{}
	}
}

// track takes up a Lease, or decides anew which policy governs it.
func (s *state) track(key types.NamespacedName) {
	s.tracking.set(key, s.governing(key).Policy)
	s.touch(key)
}

// podChanged takes up a Pod that came, changed or went (nil: is not there).
func (s *state) podChanged(sc *podScope, old, now *corev1.Pod) {
	sc.pool.set(old, now)
	if samePod(old, now) {
		return
	}
	s.touchPod(sc, old)
	s.touchPod(sc, now)
}

// samePod reports whether nothing that counts was changed in a Pod: its
// resourceVersion always is.
func samePod(a, b *corev1.Pod) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := equality.Semantic.DeepEqual
	return a.UID == b.UID && a.DeletionTimestamp.Equal(b.DeletionTimestamp) &&
		maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) &&
		same(&a.Status, &b.Status) && same(&a.Spec, &b.Spec) &&
		same(a.OwnerReferences, b.OwnerReferences) && same(a.ManagedFields, b.ManagedFields)
}

// touchPod touches the Leases that a Pod is a candidate for.
func (s *state) touchPod(sc *podScope, pod *corev1.Pod) {
	if pod == nil {
		return
	}
	for p := range sc.users {
		if source := p.pods.LeaseName; source != nil {
			if key := leaseOf(pod, *source); s.tracking.governor(key) == p {
				s.touch(key)
			}
			continue
		}
		for name := range s.tracking.governed[p][pod.Namespace] {
			s.touch(types.NamespacedName{Namespace: pod.Namespace, Name: name})
		}
	}
}

// nodeChanged takes up a Node's labels.
func (s *state) nodeChanged(name string, old, now *labelled) {
	if now == nil {
		delete(s.nodes, name)
	} else {
		s.nodes[name] = now.labels
	}
	if old != nil && now != nil && maps.Equal(old.labels, now.labels) {
		return
	}
	for _, sc := range s.scopes {
		for _, pod := range sc.pool.byNode[name] {
			s.touchPod(sc, pod)
		}
	}
}

func (s *state) leaseCandidateChanged(old, now *coordinationv1beta1.LeaseCandidate) {
	change(s, s.leaseCandidates, old, now, func(c *coordinationv1beta1.LeaseCandidate) string { return c.Spec.LeaseName })
}

func (s *state) candidateChanged(old, now *v1alpha1.Candidate) {
	change(s, s.candidates, old, now, func(c *v1alpha1.Candidate) string { return c.Spec.LeaseName })
	s.countRegistration(old, -1)
	s.countRegistration(now, 1)
}

func (s *state) countRegistration(c *v1alpha1.Candidate, n int) {
	if c == nil || c.Spec.Origin != v1alpha1.OriginAttempt {
		return
	}
	if s.registrations[c.Namespace] += n; s.registrations[c.Namespace] == 0 {
		delete(s.registrations, c.Namespace)
	}
}

// change replaces an object that names a Lease in its index, and touches the
// Lease, or both if it names another one now.
func change[T interface {
	comparable
	metav1.Object
}](s *state, x index[types.NamespacedName, T], old, now T, leaseName func(T) string) {
	var none T
	key := func(o T) types.NamespacedName {
		return types.NamespacedName{Namespace: o.GetNamespace(), Name: leaseName(o)}
	}
	if old != none {
		x.remove(key(old), old)
		s.touch(key(old))
	}
	if now != none {
		x.add(key(now), now)
		s.touch(key(now))
	}
}

// electionChanged takes up an Election. Its status is our own writing and no
// news; what a person wants of the Lease is, and how far that got.
func (s *state) electionChanged(key types.NamespacedName, old, now *v1alpha1.Election) {
	if now == nil {
		delete(s.elections, key)
	} else {
		s.elections[key] = now
	}
	s.held.set(key, electionNode(now))
	if old == nil || now == nil || old.Generation != now.Generation || !sameAnswer(old, now) {
		s.touch(key)
	}
}

// namespaceChanged takes up a Namespace's labels, by which policies of the
// cluster select it.
func (s *state) namespaceChanged(name string, old, now *labelled) (changed bool) {
	if now == nil {
		delete(s.namespaces, name)
	} else {
		s.namespaces[name] = now.labels
	}
	if old != nil && now != nil && maps.Equal(old.labels, now.labels) {
		return false
	}
	for lease := range s.tracking.governors[name] {
		s.regovern(types.NamespacedName{Namespace: name, Name: lease})
	}
	return true
}

// regovern decides anew which policy governs a tracked Lease.
func (s *state) regovern(key types.NamespacedName) {
	if s.tracking.governor(key) != s.governing(key).Policy {
		s.track(key)
	}
}

// setPolicy takes up a policy and returns what it was before and is now; the
// same if nothing was changed.
func (s *state) setPolicy(p *v1alpha1.ElectionPolicy) (old, now *Policy) {
	old = s.policies.Get(picker.PolicyRef{Kind: KindElectionPolicy, Namespace: p.Namespace, Name: p.Name})
	return old, s.policies.Set(p)
}

func (s *state) setClusterPolicy(p *v1alpha1.ClusterElectionPolicy) (old, now *Policy) {
	old = s.policies.Get(picker.PolicyRef{Kind: KindClusterElectionPolicy, Name: p.Name})
	return old, s.policies.SetCluster(p)
}

// policyChanged touches the Leases that a policy (nil: is not there) stops or
// begins to select. It looks at the names of all tracked Leases that the
// policy can reach.
func (s *state) policyChanged(old, now *Policy) {
	s.policiesTouched = true
	p := now
	if p == nil {
		p = old
	}
	if p.Ref.Namespace != "" {
		s.policyChangedIn(p.Ref.Namespace, old, now)
		return
	}
	for namespace := range s.tracking.governors {
		s.policyChangedIn(namespace, old, now)
	}
}

func (s *state) policyChangedIn(namespace string, old, now *Policy) {
	for name := range s.tracking.governors[namespace] {
		if old != nil && old.SelectsName(name) || now != nil && now.SelectsName(name) {
			s.track(types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
}

// takeTouched returns what was touched since the last call.
func (s *state) takeTouched() (leases map[types.NamespacedName]struct{}, policies bool) {
	if len(s.touched) > 0 {
		leases, s.touched = s.touched, map[types.NamespacedName]struct{}{}
	}
	policies, s.policiesTouched = s.policiesTouched, false
	return leases, policies
}
