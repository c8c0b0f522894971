package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mode says what a policy does with the rulings it leads to.
//
// +kubebuilder:validation:Enum=Enforce;DryRun;Disabled
type Mode string

const (
	// Enforce refuses every acquire attempt of a candidate that was not chosen.
	Enforce Mode = "Enforce"
	// DryRun rules in full and admits everything.
	DryRun Mode = "DryRun"
	// Disabled takes the policy's leases out of the webhook's path.
	Disabled Mode = "Disabled"
)

// ElectionPolicy says, for Leases of its own namespace, who may lead.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=epol,categories=leasewarden
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Strategy",type=string,JSONPath=`.spec.strategy.name`
// +kubebuilder:printcolumn:name="Leases",type=string,JSONPath=`.spec.leases.names`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ElectionPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ElectionPolicySpec   `json:"spec"`
	Status ElectionPolicyStatus `json:"status,omitempty"`
}

// ElectionPolicyList is a list of ElectionPolicy.
//
// +kubebuilder:object:root=true
type ElectionPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ElectionPolicy `json:"items"`
}

// ClusterElectionPolicy is the cluster-scoped twin of ElectionPolicy. Where
// both select a Lease, the namespaced policy wins.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cepol,categories=leasewarden
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Strategy",type=string,JSONPath=`.spec.strategy.name`
// +kubebuilder:printcolumn:name="Leases",type=string,JSONPath=`.spec.leases.names`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterElectionPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterElectionPolicySpec `json:"spec"`
	Status ElectionPolicyStatus      `json:"status,omitempty"`
}

// ClusterElectionPolicyList is a list of ClusterElectionPolicy.
//
// +kubebuilder:object:root=true
type ClusterElectionPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterElectionPolicy `json:"items"`
}

// ClusterElectionPolicySpec is an ElectionPolicySpec and the namespaces it
// holds for.
type ClusterElectionPolicySpec struct {
	ElectionPolicySpec `json:",inline"`

	// namespaceSelector selects the namespaces whose Leases are governed, by
	// the labels of the Namespace. Left out, it selects all of them.
	// kube-node-lease and Leasewarden's own namespace are never governed.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
}

// ElectionPolicySpec says which Leases are governed, who their candidates are,
// and by what strategy one of them is chosen.
type ElectionPolicySpec struct {
	// leases selects the Leases that this policy governs.
	Leases LeaseSelection `json:"leases"`

	// mode is Enforce, DryRun (rule, but admit everything) or Disabled.
	// +kubebuilder:default=Enforce
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// dryRunWarnings has the API server warn whoever makes a write that would be
	// refused, in the mode DryRun. client-go logs such warnings, so that a
	// component's log has lines that it would not have otherwise.
	// +optional
	DryRunWarnings bool `json:"dryRunWarnings,omitempty"`

	// failurePolicy says what happens to an acquire attempt while Leasewarden
	// cannot be asked: Ignore admits it, Fail refuses it. With Fail, a Lease
	// stays vacant as long as Leasewarden is down; a holder keeps its Lease in
	// any case. It holds for the mode Enforce alone.
	// +kubebuilder:default=Ignore
	// +optional
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`

	// exempt are the users whose writes to the governed Leases are admitted
	// whatever the policy says, for emergencies.
	// +optional
	Exempt *Exemption `json:"exempt,omitempty"`

	// candidates says who the candidates of those Leases are.
	// +kubebuilder:default={}
	// +optional
	Candidates CandidateSources `json:"candidates,omitempty"`

	// strategy says how one of the candidates is chosen.
	Strategy Strategy `json:"strategy"`

	// acquireDeadline bounds how long a vacant Lease waits for the chosen
	// candidate while others are being turned away. After it, candidates that
	// did not try to acquire during the last half of it (at least 1s) are passed
	// over. One that never tried is, once a third of it has passed, if another
	// was turned away 4 times by then (two thirds and 6 times, if the last term
	// ran out). It should be more than twice the time between two attempts of one
	// candidate. Default: the duration that the Lease was last held with, at most
	// 5m, or 15s where it was not; then at least 5s pass in any case.
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be a duration above 0, such as 15s"
	// +optional
	AcquireDeadline *metav1.Duration `json:"acquireDeadline,omitempty"`

	// maxPriorityDuration ends a candidate's priority this long after it was
	// first seen, whatever its own expiry says.
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be a duration above 0, such as 24h"
	// +optional
	MaxPriorityDuration *metav1.Duration `json:"maxPriorityDuration,omitempty"`

	// preemption says when and how a holder has to make way for a better
	// candidate. By default it never has to.
	// +kubebuilder:default={}
	// +optional
	Preemption Preemption `json:"preemption,omitempty"`

	// failover says what is done for a holder that is dead.
	// +kubebuilder:default={}
	// +optional
	Failover Failover `json:"failover,omitempty"`
}

// FailurePolicy says what happens while Leasewarden cannot be asked.
//
// +kubebuilder:validation:Enum=Ignore;Fail
type FailurePolicy string

const (
	// Ignore admits what cannot be ruled on.
	Ignore FailurePolicy = "Ignore"
	// Fail refuses what cannot be ruled on.
	Fail FailurePolicy = "Fail"
)

// Exemption names users as the API server authenticates them.
type Exemption struct {
	// users are names, such as system:serviceaccount:NAMESPACE:NAME.
	// +kubebuilder:validation:MaxItems=64
	// +listType=set
	// +optional
	Users []string `json:"users,omitempty"`
	// groups are groups, such as system:masters.
	// +kubebuilder:validation:MaxItems=64
	// +listType=set
	// +optional
	Groups []string `json:"groups,omitempty"`
}

// LeaseSelection selects Leases by name.
type LeaseSelection struct {
	// names are Lease names. In each, * stands for any run of characters. All
	// policies of a namespace share 32 KiB for them, those of the cluster 256 KiB:
	// one that there is no room for is not Ready.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?$`
	// +listType=set
	Names []string `json:"names"`
}

// UnregisteredAction says what happens to a holder that no source knows.
//
// +kubebuilder:validation:Enum=Deny;Register
type UnregisteredAction string

const (
	// DenyUnregistered refuses a holder that no source knows.
	DenyUnregistered UnregisteredAction = "Deny"
	// RegisterUnregistered makes a candidate of it, as a Candidate object.
	RegisterUnregistered UnregisteredAction = "Register"
)

// CandidateSources says where the candidates of a Lease come from.
// LeaseCandidates (coordination.k8s.io) and Candidates (leasewarden.dev) that
// name a governed Lease are always candidates.
type CandidateSources struct {
	// pods makes candidates of Pods in the Lease's namespace.
	// +optional
	Pods *PodCandidates `json:"pods,omitempty"`

	// unregistered is what happens to a holder that no source knows: Deny, or
	// Register, which makes a candidate of it.
	// +kubebuilder:default=Deny
	// +optional
	Unregistered UnregisteredAction `json:"unregistered,omitempty"`

	// verifyIdentity refuses a holder identity that claims another Pod than the
	// one the request's token is bound to. Tokens bound to no Pod are not
	// affected.
	// +kubebuilder:default=true
	// +optional
	VerifyIdentity *bool `json:"verifyIdentity,omitempty"`
}

// EligibleWhen says from when on a Pod is eligible.
//
// +kubebuilder:validation:Enum=Running;Ready
type EligibleWhen string

const (
	// EligibleRunning makes a Pod eligible while its phase is Running.
	EligibleRunning EligibleWhen = "Running"
	// EligibleReady makes a Pod eligible while its Ready condition is true.
	EligibleReady EligibleWhen = "Ready"
)

// PodCandidates makes candidates of Pods in the Lease's namespace.
type PodCandidates struct {
	// selector selects the Pods by their labels. It must not be empty.
	Selector metav1.LabelSelector `json:"selector"`

	// leaseName says for which of the governed Leases a selected Pod is a
	// candidate: the one whose name the label or annotation gives. Left out, a
	// selected Pod is a candidate for each of them; so it is needed as soon as
	// one policy governs the Leases of several components.
	// +optional
	LeaseName *FieldSource `json:"leaseName,omitempty"`

	// version says where the Pod's binary version is read.
	// +optional
	Version *VersionSource `json:"version,omitempty"`

	// emulationVersion says where the Pod's emulation version is read.
	// Default: the binary version.
	// +optional
	EmulationVersion *VersionSource `json:"emulationVersion,omitempty"`

	// eligible says from when on a Pod may lead: once Running, or once Ready.
	// Some components turn Ready only when they lead.
	// +kubebuilder:default=Running
	// +optional
	Eligible EligibleWhen `json:"eligible,omitempty"`

	// identityPattern is an RE2 expression for components whose holder identity
	// is not "<hostname>" or "<hostname>_<suffix>". It must match the whole
	// identity and have a group named "hostname".
	// +kubebuilder:validation:MaxLength=256
	// +optional
	IdentityPattern string `json:"identityPattern,omitempty"`
}

// FieldSource names the one label or annotation of a Pod that a value is read
// from.
//
// +kubebuilder:validation:ExactlyOneOf=fromLabel;fromAnnotation
type FieldSource struct {
	// fromLabel is the key of a label.
	// +kubebuilder:validation:MinLength=1
	// +optional
	FromLabel string `json:"fromLabel,omitempty"`
	// fromAnnotation is the key of an annotation.
	// +kubebuilder:validation:MinLength=1
	// +optional
	FromAnnotation string `json:"fromAnnotation,omitempty"`
}

// VersionSource names the one place in a Pod that a version is read from.
//
// +kubebuilder:validation:ExactlyOneOf=fromLabel;fromAnnotation;fromImageTag
type VersionSource struct {
	// fromLabel is the key of a label.
	// +kubebuilder:validation:MinLength=1
	// +optional
	FromLabel string `json:"fromLabel,omitempty"`
	// fromAnnotation is the key of an annotation.
	// +kubebuilder:validation:MinLength=1
	// +optional
	FromAnnotation string `json:"fromAnnotation,omitempty"`
	// fromImageTag reads the tag of a container's image.
	// +optional
	FromImageTag *ImageTagSource `json:"fromImageTag,omitempty"`
}

// ImageTagSource names the container whose image tag is a version.
type ImageTagSource struct {
	// container is the container's name. Default: the Pod's only container.
	// +optional
	Container string `json:"container,omitempty"`
}

// ElectionPolicyStatus is what Leasewarden makes of a policy.
type ElectionPolicyStatus struct {
	// observedGeneration is the generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions: Ready, PolicyConflict.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// leases is the number of Leases that this policy governs.
	// +optional
	Leases int32 `json:"leases,omitempty"`
}
