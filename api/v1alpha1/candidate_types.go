package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CandidateOrigin says who wrote a Candidate.
//
// +kubebuilder:validation:Enum=Registration;Attempt
type CandidateOrigin string

const (
	// OriginRegistration marks a Candidate that somebody registered.
	OriginRegistration CandidateOrigin = "Registration"
	// OriginAttempt marks a Candidate that Leasewarden wrote for an acquire
	// attempt of an identity that no source knew.
	OriginAttempt CandidateOrigin = "Attempt"
)

// Candidate registers an instance that is not a Pod as a candidate for a Lease
// of its namespace. Leasewarden writes one, too, for an acquire attempt of an
// unregistered identity where the policy says Register.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=cand,categories=leasewarden
// +kubebuilder:printcolumn:name="Lease",type=string,JSONPath=`.spec.leaseName`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.binaryVersion`
// +kubebuilder:printcolumn:name="Origin",type=string,JSONPath=`.spec.origin`
// +kubebuilder:printcolumn:name="Renewed",type=date,JSONPath=`.spec.renewTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Candidate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec CandidateSpec `json:"spec"`
}

// CandidateList is a list of Candidate.
//
// +kubebuilder:object:root=true
type CandidateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Candidate `json:"items"`
}

// CandidateSpec describes the registered instance. Names follow
// coordination.k8s.io LeaseCandidate where it has them.
//
// +kubebuilder:validation:XValidation:rule="has(self.identity) || has(self.hostname)",message="identity or hostname is needed to recognise the holder"
type CandidateSpec struct {
	// leaseName is the Lease that the instance is a candidate for.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	LeaseName string `json:"leaseName"`
	// identity is the holder identity that the instance writes. Left out, the
	// hostname is compared.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Identity string `json:"identity,omitempty"`
	// hostname is the first part of the holder identity that the instance
	// writes, "<hostname>" or "<hostname>_<suffix>".
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// node is the Node that the instance runs on, if any.
	// +optional
	Node string `json:"node,omitempty"`
	// binaryVersion is the instance's version.
	// +optional
	BinaryVersion string `json:"binaryVersion,omitempty"`
	// emulationVersion is the version it emulates. Default: binaryVersion.
	// +optional
	EmulationVersion string `json:"emulationVersion,omitempty"`
	// priority above 0 takes precedence under the strategy Priority.
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// priorityUntil ends the priority, an RFC 3339 time from 1970 to 9998.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`
	// +kubebuilder:validation:XValidation:rule="self >= timestamp('1970-01-01T00:00:00Z') && self < timestamp('9999-01-01T00:00:00Z')",message="must be a time from 1970 to 9998"
	// +optional
	PriorityUntil *metav1.Time `json:"priorityUntil,omitempty"`
	// origin says who wrote this object.
	// +kubebuilder:default=Registration
	// +optional
	Origin CandidateOrigin `json:"origin,omitempty"`
	// renewTime is when the instance was last known to be alive, from 1970 to 9998,
	// with six digits after the second, as in a Lease.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`
	// +kubebuilder:validation:XValidation:rule="self >= timestamp('1970-01-01T00:00:00Z') && self < timestamp('9999-01-01T00:00:00Z')",message="must be a time from 1970 to 9998"
	// +optional
	RenewTime *metav1.MicroTime `json:"renewTime,omitempty"`
	// ttlSeconds ends the registration this long after renewTime. Left out, it
	// holds until the object is deleted.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TTLSeconds *int32 `json:"ttlSeconds,omitempty"`
}
