package candidates

import (
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// Objects are the API objects that candidates are made from. They come from
// a cluster (Cache) or from files (ObjectSet). Lists are ordered by name, and
// nothing that is returned may be changed.
type Objects interface {
	// Pods are the Pods that p makes candidates for the Lease.
	Pods(p *Policy, lease types.NamespacedName) []*corev1.Pod
	// Departed are such Pods that were deleted lately, as they were in the end,
	// one for each name.
	Departed(p *Policy, lease types.NamespacedName) []*corev1.Pod
	// NodeLabels are the labels of a Node, nil if it is not known.
	NodeLabels(name string) map[string]string
	// LeaseCandidates are those that name the Lease.
	LeaseCandidates(lease types.NamespacedName) []*coordinationv1beta1.LeaseCandidate
	// Candidates are those that name the Lease.
	Candidates(lease types.NamespacedName) []*v1alpha1.Candidate
	// Election is the Lease's, or nil.
	Election(lease types.NamespacedName) *v1alpha1.Election
	// HeldByNode counts, by node, the governed Leases other than this one.
	HeldByNode(except types.NamespacedName) map[string]int
	// RevisionNumber orders the revisions of the owner of a Pod that p selects.
	// 0: not known.
	RevisionNumber(p *Policy, pod *corev1.Pod) int64
}
