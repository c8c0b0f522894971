package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Election is the election of one governed Lease, of the same name: in spec what
// people want of it, in status what the picker sees. Leasewarden creates it where
// nobody else did, and removes it unless somebody wants something.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=elec,categories=leasewarden
// +kubebuilder:printcolumn:name="Holder",type=string,JSONPath=`.status.holder.name`
// +kubebuilder:printcolumn:name="Chosen",type=string,JSONPath=`.status.chosen`
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.status.criterion`,priority=1
// +kubebuilder:printcolumn:name="Strategy",type=string,JSONPath=`.status.strategy`,priority=1
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.mode`
// +kubebuilder:printcolumn:name="Eligible",type=string,JSONPath=`.status.eligible`
// +kubebuilder:printcolumn:name="Term",type=date,JSONPath=`.status.holder.since`
// +kubebuilder:printcolumn:name="Would Lead",type=string,priority=1,JSONPath=`.status.dryRun.leader`
type Election struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ElectionSpec   `json:"spec,omitempty"`
	Status ElectionStatus `json:"status,omitempty"`
}

// ElectionList is a list of Election.
//
// +kubebuilder:object:root=true
type ElectionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Election `json:"items"`
}

// Condition types of an Election and of a policy.
const (
	// ConditionReady is true while the Lease is governed as its policy says.
	ConditionReady = "Ready"
	// ConditionPolicyConflict is true while several policies select the Lease.
	ConditionPolicyConflict = "PolicyConflict"
	// ConditionNoEligibleCandidate is true while nobody may lead.
	ConditionNoEligibleCandidate = "NoEligibleCandidate"
	// ConditionHolderNotChosen is true while the holder is not the chosen one.
	ConditionHolderNotChosen = "HolderNotChosen"
	// ConditionSteppingDown is true while the holder is made to give the Lease
	// up: message says for whom and why.
	ConditionSteppingDown = "SteppingDown"
	// ConditionPaused is there, and true, while the election is paused.
	ConditionPaused = "Paused"
	// ConditionPinned is there while the Lease is pinned, and true while that is
	// what decides.
	ConditionPinned = "Pinned"
)

// ElectionStatus is the last decision of the picker and where it stands.
type ElectionStatus struct {
	// policy is the policy that governs the Lease, as Kind/name.
	// +optional
	Policy string `json:"policy,omitempty"`
	// strategy is the name of its strategy.
	// +optional
	Strategy StrategyName `json:"strategy,omitempty"`
	// mode is the mode of the policy.
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// holder is who holds the Lease.
	// +optional
	Holder *ElectionHolder `json:"holder,omitempty"`
	// chosen is the name of the candidate that the picker chose.
	// +optional
	Chosen string `json:"chosen,omitempty"`
	// criterion is what decided for the chosen candidate.
	// +optional
	Criterion string `json:"criterion,omitempty"`
	// eligible counts the eligible candidates and all of them, as "2/3".
	// +optional
	Eligible string `json:"eligible,omitempty"`
	// candidates are the candidates in the picker's order.
	// +listType=atomic
	// +optional
	Candidates []CandidateVerdict `json:"candidates,omitempty"`
	// switchover is how far the last switchover got.
	// +optional
	Switchover *SwitchoverStatus `json:"switchover,omitempty"`
	// pin is what became of spec.pin.
	// +optional
	Pin *PinStatus `json:"pin,omitempty"`
	// terms are the last 10 terms, the newest first.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	Terms []Term `json:"terms,omitempty"`
	// dryRun is what would have happened if the policy had been enforced, while
	// it was in the mode DryRun.
	// +optional
	DryRun *DryRunStatus `json:"dryRun,omitempty"`
	// conditions: Ready, PolicyConflict, NoEligibleCandidate, HolderNotChosen,
	// SteppingDown, and Paused and Pinned where the spec says so.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ElectionHolder is the holder of a Lease.
type ElectionHolder struct {
	// name is the holder's name as a candidate, or else its identity.
	Name string `json:"name"`
	// identity is the Lease's holderIdentity.
	Identity string `json:"identity"`
	// since is when its term began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}

// CandidateVerdict is what the picker says of one candidate.
type CandidateVerdict struct {
	// name is the candidate's name.
	Name string `json:"name"`
	// sources are the sources that know it: Pod, LeaseCandidate, Candidate,
	// Attempt.
	// +listType=atomic
	Sources []string `json:"sources"`
	// node is the node it runs on.
	// +optional
	Node string `json:"node,omitempty"`
	// version is its binary version.
	// +optional
	Version string `json:"version,omitempty"`
	// emulationVersion is its emulation version, where it is another one.
	// +optional
	EmulationVersion string `json:"emulationVersion,omitempty"`
	// eligible says whether it may lead.
	Eligible bool `json:"eligible"`
	// reason says why it may not.
	// +optional
	Reason string `json:"reason,omitempty"`
	// scores are its scores, one per criterion, in order.
	// +listType=atomic
	// +optional
	Scores []string `json:"scores,omitempty"`
}

// Why a Term ended.
const (
	// TermReleased ends the term of a holder that gave the Lease up.
	TermReleased = "Released"
	// TermExpired ends the term of a holder that did not renew it in time.
	TermExpired = "Expired"
	// TermTakenOver ends a term that another holder cut short, or that ended
	// while nobody watched.
	TermTakenOver = "TakenOver"
	// TermDeleted ends a term whose Lease was deleted.
	TermDeleted = "Deleted"
)

// MaxTerms bounds the terms in the status of an Election.
const MaxTerms = 10

// Term is the time between an acquire and its end.
type Term struct {
	// holder is the holder's name as a candidate, or else its identity.
	Holder string `json:"holder"`
	// identity is the holderIdentity that it wrote.
	// +optional
	Identity string `json:"identity,omitempty"`
	// version is its binary version.
	// +optional
	Version string `json:"version,omitempty"`
	// start is when it acquired the Lease.
	Start metav1.Time `json:"start"`
	// end is when the term ended.
	// +optional
	End *metav1.Time `json:"end,omitempty"`
	// endReason is why: Released, Expired, TakenOver or Deleted.
	// +optional
	EndReason string `json:"endReason,omitempty"`
	// criterion is what decided for the holder.
	// +optional
	Criterion string `json:"criterion,omitempty"`
}
