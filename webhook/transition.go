package webhook

import (
	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// Transition is what a write to a Lease means for its term.
type Transition string

const (
	// Acquire gives a Lease that nobody holds, or that does not exist, a holder.
	Acquire Transition = "Acquire"
	// Renew keeps the holder and changes anything else of the spec.
	Renew Transition = "Renew"
	// Takeover replaces the holder by another one.
	Takeover Transition = "Takeover"
	// Release takes the holder away.
	Release Transition = "Release"
	// Touch leaves the term as it is: the spec is unchanged, or nobody held the
	// Lease and nobody does.
	Touch Transition = "Touch"
	// Delete removes the Lease.
	Delete Transition = "Delete"
)

// Classify says what a write means. old is nil for a Lease that does not exist
// yet, new is nil for one that is deleted. A holder identity that is absent and
// one that is empty are the same: nobody.
func Classify(op admissionv1.Operation, old, new *coordinationv1.Lease) Transition {
	if op == admissionv1.Delete || new == nil {
		return Delete
	}
	before, after := holder(old), holder(new)
	switch {
	case before == "" && after == "":
		return Touch
	case before == "":
		return Acquire
	case after == "":
		return Release
	case before != after:
		return Takeover
	case apiequality.Semantic.DeepEqual(old.Spec, new.Spec):
		return Touch
	}
	return Renew
}

// Contests reports whether the write asks for a Lease that the claimant does
// not hold: only such writes are ruled on by the picker.
func (t Transition) Contests() bool { return t == Acquire || t == Takeover }

// holder is the holder identity of a Lease, "" if nobody holds it.
func holder(l *coordinationv1.Lease) string {
	if l == nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}
