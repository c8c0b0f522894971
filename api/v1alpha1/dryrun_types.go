package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DryRunStatus is what would have happened to a Lease if its policy had been
// enforced since the dry-run began. It follows what does happen for as long as
// the policy would have changed nothing, and is an estimate from then on: see
// message.
type DryRunStatus struct {
	// since is when the dry-run began.
	Since metav1.Time `json:"since"`
	// until is when it ended. Left out, it goes on.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// leader is the candidate that would lead. Left out, nobody would.
	// +optional
	Leader string `json:"leader,omitempty"`
	// leaderSince is since when that would be so.
	// +optional
	LeaderSince *metav1.Time `json:"leaderSince,omitempty"`
	// formerLeader is who would have led before.
	// +optional
	FormerLeader string `json:"formerLeader,omitempty"`
	// leaderChanges counts how often another process would have become the
	// leader.
	LeaderChanges int32 `json:"leaderChanges"`
	// holderChanges counts how often one has in fact.
	HolderChanges int32 `json:"holderChanges"`
	// wouldDeny counts the terms that would not have begun, since the acquire
	// would have been refused.
	WouldDeny int32 `json:"wouldDeny"`
	// lastDenied is the last of them.
	// +optional
	LastDenied *DryRunDenial `json:"lastDenied,omitempty"`
	// wouldDo is what would be done about the term of the present holder, such as
	// telling it to step down. Left out, nothing would.
	// +optional
	WouldDo string `json:"wouldDo,omitempty"`
	// message says how far this can be known.
	// +optional
	Message string `json:"message,omitempty"`
}

// DryRunDenial is an acquire that would have been refused.
type DryRunDenial struct {
	// candidate acquired the Lease. It is the holder's identity if it is no
	// candidate.
	Candidate string `json:"candidate"`
	// time is when.
	Time metav1.Time `json:"time"`
	// message says why it would not have.
	Message string `json:"message"`
}

// Runs reports whether a dry-run is going on. A nil one is not.
func (s *DryRunStatus) Runs() bool { return s != nil && s.Until == nil }
