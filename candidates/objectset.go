package candidates

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// ObjectSet is a set of API objects in memory, such as those of a file. It is
// the Objects and the policies of "leasewarden pick -f". A name that comes
// twice means the later object.
type ObjectSet struct {
	policies        *PolicySet
	namespaces      map[string]map[string]string
	leases          map[types.NamespacedName]*coordinationv1.Lease
	pods            map[types.NamespacedName]*corev1.Pod
	nodes           map[string]*corev1.Node
	leaseCandidates map[types.NamespacedName]*coordinationv1beta1.LeaseCandidate
	candidates      map[types.NamespacedName]*v1alpha1.Candidate
	elections       map[types.NamespacedName]*v1alpha1.Election
	revisions       revisions
}

// NewObjectSet makes an empty set.
func NewObjectSet() *ObjectSet {
	return &ObjectSet{
		policies:        NewPolicySet(""),
		namespaces:      map[string]map[string]string{},
		leases:          map[types.NamespacedName]*coordinationv1.Lease{},
		pods:            map[types.NamespacedName]*corev1.Pod{},
		nodes:           map[string]*corev1.Node{},
		leaseCandidates: map[types.NamespacedName]*coordinationv1beta1.LeaseCandidate{},
		candidates:      map[types.NamespacedName]*v1alpha1.Candidate{},
		elections:       map[types.NamespacedName]*v1alpha1.Election{},
		revisions:       revisions{},
	}
}

// Add adds an object. An object of a kind that no decision depends on is not
// added, which used reports. A policy that is wrong is added, and is returned
// by Policies with its Errors.
func (s *ObjectSet) Add(o runtime.Object) (used bool) {
	switch o := o.(type) {
	case *v1alpha1.ElectionPolicy:
		if o.Namespace == "" {
			o = o.DeepCopy()
			o.Namespace = metav1.NamespaceDefault
		}
		s.policies.Set(o)
	case *v1alpha1.ClusterElectionPolicy:
		s.policies.SetCluster(o)
	case *v1alpha1.Candidate:
		s.candidates[keyOf(o)] = o
	case *v1alpha1.Election:
		s.elections[keyOf(o)] = o
	default:
		return s.addBuiltIn(o)
	}
	return true
}

func (s *ObjectSet) addBuiltIn(o runtime.Object) (used bool) {
	switch o := o.(type) {
	case *corev1.Namespace:
		s.namespaces[o.Name] = o.Labels
	case *corev1.Pod:
		s.pods[keyOf(o)] = o
	case *corev1.Node:
		s.nodes[o.Name] = o
	case *coordinationv1.Lease:
		s.leases[keyOf(o)] = o
	case *coordinationv1beta1.LeaseCandidate:
		s.leaseCandidates[keyOf(o)] = o
	case *coordinationv1alpha2.LeaseCandidate:
		s.leaseCandidates[keyOf(o)] = fromAlpha(o)
	case *appsv1.ReplicaSet:
		s.revisions.set(nil, replicaSetRevision(o))
	case *appsv1.ControllerRevision:
		s.revisions.set(nil, controllerRevision(o))
	default:
		return false
	}
	return true
}

// keyOf is an object's key. Files often leave the namespace out; kubectl takes
// "default" then.
func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: cmp.Or(o.GetNamespace(), metav1.NamespaceDefault), Name: o.GetName()}
}

// Policies are all policies of the set, the invalid ones too.
func (s *ObjectSet) Policies() []*Policy { return s.policies.All() }

// Leases are the keys of the Leases that some policy governs: those of the set,
// those that LeaseCandidates and Candidates name, and those that a policy of
// a namespace names without a glob. They are in order.
func (s *ObjectSet) Leases() []types.NamespacedName {
	all := map[types.NamespacedName]bool{}
	for key := range s.leases {
		all[key] = true
	}
	for key, lc := range s.leaseCandidates {
		all[types.NamespacedName{Namespace: key.Namespace, Name: lc.Spec.LeaseName}] = true
	}
	for key, c := range s.candidates {
		all[types.NamespacedName{Namespace: key.Namespace, Name: c.Spec.LeaseName}] = true
	}
	for _, p := range s.policies.policies {
		for _, name := range p.names.exact {
			if p.Ref.Namespace != "" {
				all[types.NamespacedName{Namespace: p.Ref.Namespace, Name: name}] = true
			}
		}
	}
	keys := slices.Collect(maps.Keys(all))
	keys = slices.DeleteFunc(keys, func(key types.NamespacedName) bool { return s.Governing(key).Policy == nil })
	slices.SortFunc(keys, compareKeys)
	return keys
}

// Lease is the Lease of that key, or nil.
func (s *ObjectSet) Lease(key types.NamespacedName) *coordinationv1.Lease { return s.leases[key] }

// Governing says which policy governs the Lease.
func (s *ObjectSet) Governing(key types.NamespacedName) Governance {
	return s.policies.Governing(key.Namespace, namespaceLabels(key.Namespace, s.namespaces[key.Namespace]), key.Name)
}

// namespaceLabels are a Namespace's labels, with the one that the API server
// sets on each of them: a file, or a watch that lags, may not have it.
func namespaceLabels(name string, set map[string]string) map[string]string {
	if set[corev1.LabelMetadataName] == name {
		return set
	}
	with := maps.Clone(set)
	if with == nil {
		with = map[string]string{}
	}
	with[corev1.LabelMetadataName] = name
	return with
}

// Pods implements Objects.
func (s *ObjectSet) Pods(p *Policy, lease types.NamespacedName) []*corev1.Pod {
	var pods []*corev1.Pod
	for key, pod := range s.pods {
		if key.Namespace == lease.Namespace && p.pods.selector.Matches(labels.Set(pod.Labels)) && p.pods.serves(pod, lease.Name) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, compareNames)
	return pods
}

// serves reports whether a selected Pod is a candidate for the Lease.
func (s *podSource) serves(pod *corev1.Pod, lease string) bool {
	return s.LeaseName == nil || fieldValue(pod, *s.LeaseName) == lease
}

// fieldValue reads a label or annotation of a Pod.
func fieldValue(pod *corev1.Pod, source v1alpha1.FieldSource) string {
	if source.FromLabel != "" {
		return pod.Labels[source.FromLabel]
	}
	return pod.Annotations[source.FromAnnotation]
}

// NodeLabels implements Objects.
func (s *ObjectSet) NodeLabels(name string) map[string]string {
	if n := s.nodes[name]; n != nil {
		return n.Labels
	}
	return nil
}

// LeaseCandidates implements Objects.
func (s *ObjectSet) LeaseCandidates(lease types.NamespacedName) []*coordinationv1beta1.LeaseCandidate {
	return naming(s.leaseCandidates, lease, func(c *coordinationv1beta1.LeaseCandidate) string { return c.Spec.LeaseName })
}

// Candidates implements Objects.
func (s *ObjectSet) Candidates(lease types.NamespacedName) []*v1alpha1.Candidate {
	return naming(s.candidates, lease, func(c *v1alpha1.Candidate) string { return c.Spec.LeaseName })
}

// naming returns the objects of the Lease's namespace that name the Lease.
func naming[T metav1.Object](objects map[types.NamespacedName]T, lease types.NamespacedName, leaseName func(T) string) []T {
	var found []T
	for key, o := range objects {
		if key.Namespace == lease.Namespace && leaseName(o) == lease.Name {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, compareNames)
	return found
}

// Election implements Objects.
func (s *ObjectSet) Election(lease types.NamespacedName) *v1alpha1.Election {
	return s.elections[lease]
}

// HeldByNode implements Objects. It goes by the Leases of the set, so that it
// needs no Elections.
func (s *ObjectSet) HeldByNode(except types.NamespacedName) map[string]int {
	count := map[string]int{}
	for key, lease := range s.leases {
		if node := s.holderNode(key, lease); node != "" && key != except {
			count[node]++
		}
	}
	return count
}

// holderNode is the node of the candidate that holds the Lease.
func (s *ObjectSet) holderNode(key types.NamespacedName, lease *coordinationv1.Lease) string {
	holder := recordOf(lease).holder
	g := s.Governing(key)
	if holder == "" || g.Policy == nil {
		return ""
	}
	a := assembly{objects: s, policy: g.Policy, lease: key}
	a.addPods()
	a.addLeaseCandidates()
	a.addCandidates()
	if i, ok := a.roster.one(holder); ok {
		return a.roster.candidates[i].Node
	}
	return ""
}

// RevisionNumber implements Objects.
func (s *ObjectSet) RevisionNumber(_ *Policy, pod *corev1.Pod) int64 { return s.revisions.number(pod) }

func compareNames[T metav1.Object](a, b T) int { return strings.Compare(a.GetName(), b.GetName()) }

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// fromAlpha converts an older LeaseCandidate, whose fields are the same.
func fromAlpha(o *coordinationv1alpha2.LeaseCandidate) *coordinationv1beta1.LeaseCandidate {
	return &coordinationv1beta1.LeaseCandidate{ObjectMeta: o.ObjectMeta, Spec: coordinationv1beta1.LeaseCandidateSpec(o.Spec)}
}
