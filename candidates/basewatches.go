package candidates

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// watchBase starts the watches that do not depend on what the policies say.
func (c *Cache) watchBase() {
	follow(c, &watched{what: "Namespaces", base: true},
		metadataListWatch(c.clients.metadata, corev1.SchemeGroupVersion.WithResource("namespaces"), "", ""),
		&metav1.PartialObjectMetadata{},
		newMirror(c.update, trimToLabels, func(key types.NamespacedName, old, now *labelled) { c.namespaceChanged(key.Name, old, now) }))
	follow(c, &watched{what: "ElectionPolicies", base: true},
		c.ownListWatch("electionpolicies", func() runtime.Object { return &v1alpha1.ElectionPolicyList{} }),
		&v1alpha1.ElectionPolicy{},
		newMirror(c.update, dropManagedFields[*v1alpha1.ElectionPolicy], c.electionPolicyChanged))
	follow(c, &watched{what: "ClusterElectionPolicies", base: true},
		c.ownListWatch("clusterelectionpolicies", func() runtime.Object { return &v1alpha1.ClusterElectionPolicyList{} }),
		&v1alpha1.ClusterElectionPolicy{},
		newMirror(c.update, dropManagedFields[*v1alpha1.ClusterElectionPolicy], c.clusterElectionPolicyChanged))
	follow(c, &watched{what: "Candidates", base: true},
		c.ownListWatch("candidates", func() runtime.Object { return &v1alpha1.CandidateList{} }),
		&v1alpha1.Candidate{},
		newMirror(c.update, trimCandidate, c.candidateChanged))
	follow(c, &watched{what: "Elections", base: true, optional: true},
		c.ownListWatch("elections", func() runtime.Object { return &v1alpha1.ElectionList{} }),
		&v1alpha1.Election{},
		newMirror(c.update, dropManagedFields[*v1alpha1.Election], c.state.electionChanged))
}

func (c *Cache) ownListWatch(resource string, empty func() runtime.Object) *listerWatcher {
	lw := listWatch(c.clients.own, resource, "", "")
	lw.empty = empty
	return lw
}

// watchNodes starts to watch Nodes as soon as there is a policy that governs.
func (c *Cache) watchNodes() {
	if c.nodes != nil {
		return
	}
	c.nodes = &watched{what: "Nodes", base: true}
	follow(c, c.nodes,
		metadataListWatch(c.clients.metadata, corev1.SchemeGroupVersion.WithResource("nodes"), "", ""),
		&metav1.PartialObjectMetadata{},
		newMirror(c.update, trimToLabels, func(key types.NamespacedName, old, now *labelled) { c.state.nodeChanged(key.Name, old, now) }))
}

func (c *Cache) candidateChanged(_ types.NamespacedName, old, now *v1alpha1.Candidate) {
	c.state.candidateChanged(old, now)
	for _, o := range []*v1alpha1.Candidate{old, now} {
		if o != nil {
			c.ledger.registered(types.NamespacedName{Namespace: o.Namespace, Name: o.Spec.LeaseName}, o.Name)
		}
	}
}

func (c *Cache) electionPolicyChanged(key types.NamespacedName, _, now *v1alpha1.ElectionPolicy) {
	if now != nil {
		c.policyChanged(c.state.setPolicy(now))
		return
	}
	c.policyDeleted(c.state.policies.Get(policyRef(KindElectionPolicy, key)))
}

func (c *Cache) clusterElectionPolicyChanged(key types.NamespacedName, _, now *v1alpha1.ClusterElectionPolicy) {
	if now != nil {
		c.policyChanged(c.state.setClusterPolicy(now))
		return
	}
	c.policyDeleted(c.state.policies.Get(policyRef(KindClusterElectionPolicy, key)))
}

func (c *Cache) policyDeleted(old *Policy) {
	if old != nil {
		c.state.policies.Delete(old.Ref)
		c.policyChanged(old, nil)
	}
}

// policyChanged has what the policy needs watched, and touches its Leases. A
// write to its status alone changes nothing.
func (c *Cache) policyChanged(old, now *Policy) {
	if old == now {
		return
	}
	c.rescope(old, now)
	c.state.policyChanged(old, now)
}
