package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PreemptWhen says when a holder has to make way for a better candidate.
//
// +kubebuilder:validation:Enum=Never;BetterCandidate;AfterRollout
type PreemptWhen string

const (
	// PreemptNever leaves a holder alone until it gives the Lease up.
	PreemptNever PreemptWhen = "Never"
	// PreemptForBetter has a holder make way as soon as another candidate is
	// strictly better.
	PreemptForBetter PreemptWhen = "BetterCandidate"
	// PreemptAfterRollout is PreemptForBetter, but waits for the end of a
	// rollout of the candidates.
	PreemptAfterRollout PreemptWhen = "AfterRollout"
)

// PreemptionMethod says how a holder is made to give the Lease up.
//
// +kubebuilder:validation:Enum=DenyRenewal;Evict
type PreemptionMethod string

const (
	// DenyRenewal refuses the holder's renewals until it gives up by itself, or
	// its replacement is gone.
	DenyRenewal PreemptionMethod = "DenyRenewal"
	// Evict evicts the holder's Pod through the Eviction API, which honours
	// PodDisruptionBudgets. Holders that are no Pods, and static Pods, are
	// refused their renewals instead.
	Evict PreemptionMethod = "Evict"
)

// Preemption says whether, how often and how a holder has to make way for a
// better candidate. A candidate is better if it scores higher; being older is
// not enough. What a person asks for in an Election is done at once, whatever
// is said here but for the method.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minTerm) || duration(self.minTerm) >= duration('0s')",message="minTerm must not be negative"
// +kubebuilder:validation:XValidation:rule="!has(self.cooldown) || duration(self.cooldown) >= duration('0s')",message="cooldown must not be negative"
type Preemption struct {
	// when is Never, BetterCandidate, or AfterRollout, which is the one for the
	// strategy RolloutAware.
	// +kubebuilder:default=Never
	// +optional
	When PreemptWhen `json:"when,omitempty"`

	// minTerm is how long a holder leads at least, such as 5m.
	// +kubebuilder:default="5m"
	// +optional
	MinTerm *metav1.Duration `json:"minTerm,omitempty"`

	// cooldown is the least time, such as 1m, between the end of one preemption,
	// also of one that was taken back, and the beginning of the next.
	// +kubebuilder:default="1m"
	// +optional
	Cooldown *metav1.Duration `json:"cooldown,omitempty"`

	// method is DenyRenewal or Evict.
	// +kubebuilder:default=DenyRenewal
	// +optional
	Method PreemptionMethod `json:"method,omitempty"`
}

// Failover says what is done for a holder that is dead.
type Failover struct {
	// releaseOnTermination releases the Lease on behalf of its holder as soon as
	// the kubelet reports that the holder's containers have ended, so that
	// others need not wait for the term to run out. It is never done for a Pod
	// that was deleted by force, or whose node is lost.
	// +kubebuilder:default=true
	// +optional
	ReleaseOnTermination *bool `json:"releaseOnTermination,omitempty"`

	// container is the name of the container that elects. Default: all
	// containers that ran when the holder acquired the Lease must have ended.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Container string `json:"container,omitempty"`
}
