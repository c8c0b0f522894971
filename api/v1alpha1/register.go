package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "leasewarden.dev", Version: "v1alpha1"}

// AddToScheme registers the types of this package with a scheme.
var AddToScheme = schemeBuilder.AddToScheme

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ElectionPolicy{}, &ElectionPolicyList{},
		&ClusterElectionPolicy{}, &ClusterElectionPolicyList{},
		&Election{}, &ElectionList{},
		&Candidate{}, &CandidateList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
