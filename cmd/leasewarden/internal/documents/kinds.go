package documents

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// kind is one that a decision can depend on.
type kind struct {
	make    func() client.Object
	cluster bool
}

// kinds are all of them. Elections are among them for the terms they remember.
var kinds = map[schema.GroupVersionKind]kind{
	corev1.SchemeGroupVersion.WithKind("Pod"):                          {make: func() client.Object { return &corev1.Pod{} }},
	corev1.SchemeGroupVersion.WithKind("Node"):                         {make: func() client.Object { return &corev1.Node{} }, cluster: true},
	corev1.SchemeGroupVersion.WithKind("Namespace"):                    {make: func() client.Object { return &corev1.Namespace{} }, cluster: true},
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"):                   {make: func() client.Object { return &appsv1.ReplicaSet{} }},
	appsv1.SchemeGroupVersion.WithKind("ControllerRevision"):           {make: func() client.Object { return &appsv1.ControllerRevision{} }},
	coordinationv1.SchemeGroupVersion.WithKind("Lease"):                {make: func() client.Object { return &coordinationv1.Lease{} }},
	coordinationv1beta1.SchemeGroupVersion.WithKind("LeaseCandidate"):  {make: func() client.Object { return &coordinationv1beta1.LeaseCandidate{} }},
	coordinationv1alpha2.SchemeGroupVersion.WithKind("LeaseCandidate"): {make: func() client.Object { return &coordinationv1alpha2.LeaseCandidate{} }},
	v1alpha1.GroupVersion.WithKind("ElectionPolicy"):                   {make: func() client.Object { return &v1alpha1.ElectionPolicy{} }},
	v1alpha1.GroupVersion.WithKind("ClusterElectionPolicy"):            {make: func() client.Object { return &v1alpha1.ClusterElectionPolicy{} }, cluster: true},
	v1alpha1.GroupVersion.WithKind("Candidate"):                        {make: func() client.Object { return &v1alpha1.Candidate{} }},
	v1alpha1.GroupVersion.WithKind("Election"):                         {make: func() client.Object { return &v1alpha1.Election{} }},
}

func isOurs(k schema.GroupVersionKind) bool { return k.Group == v1alpha1.GroupVersion.Group }

// supportedVersions are those in which the kind is read, if in any. An object of
// another version must not be left out as if it did not matter.
func supportedVersions(k schema.GroupKind) []string {
	var versions []string
	for known := range kinds {
		if known.GroupKind() == k {
			versions = append(versions, known.GroupVersion().String())
		}
	}
	slices.Sort(versions)
	return versions
}
