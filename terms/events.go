package terms

import (
	"fmt"
	"slices"

	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// Reasons of the Events.
const (
	// EventLeaderChanged tells of a new holder.
	EventLeaderChanged = "LeaderChanged"
	// EventPolicyConflict tells of several policies that select one Lease.
	EventPolicyConflict = "PolicyConflict"
	// EventNoEligibleCandidate tells that nobody may lead.
	EventNoEligibleCandidate = "NoEligibleCandidate"
	// EventPriorityEnded tells of a priority that expired or was forgotten.
	EventPriorityEnded = "PriorityEnded"
	// EventIgnoredValue tells of what a candidate says of itself and nobody can
	// read.
	EventIgnoredValue = "IgnoredValue"
)

// finding is what one Event tells.
type finding struct {
	kind, reason, action, note string
	// pod is the Pod that it is about, beside the Election. Nil: none.
	pod *corev1.Pod
	// candidate is the name of the candidate that it is about, without an Event
	// on that. Findings of the same kind on the same candidate, in a row, are one
	// Event with a count. Empty: none.
	candidate string
}

// candidateRef refers to the object that makes a candidate, as far as the status
// lists it. Nil: it does not.
func candidateRef(namespace, name string, status *v1alpha1.ElectionStatus) runtime.Object {
	if name == "" || status == nil {
		return nil
	}
	i := slices.IndexFunc(status.Candidates, func(v v1alpha1.CandidateVerdict) bool { return v.Name == name })
	if i < 0 || len(status.Candidates[i].Sources) == 0 {
		return nil
	}
	ref := &corev1.ObjectReference{Namespace: namespace, Name: name}
	switch picker.Source(status.Candidates[i].Sources[0]) {
	case picker.SourcePod:
		ref.APIVersion, ref.Kind = "v1", "Pod"
	case picker.SourceLeaseCandidate:
		ref.APIVersion, ref.Kind = coordinationv1beta1.SchemeGroupVersion.String(), "LeaseCandidate"
	default:
		ref.APIVersion, ref.Kind = v1alpha1.GroupVersion.String(), "Candidate"
	}
	return ref
}

// statusFindings are what a new status says that the one before did not. The
// same status, published again, tells nothing. previous is nil for an Election
// that did not exist.
func statusFindings(previous, status *v1alpha1.ElectionStatus) []finding {
	var found []finding
	if f, ok := leaderChanged(previous, status); ok {
		found = append(found, f)
	}
	if c := risen(previous, status, v1alpha1.ConditionPolicyConflict); c != nil {
		found = append(found, finding{kind: corev1.EventTypeWarning, reason: EventPolicyConflict, action: "Govern", note: c.Message})
	}
	if c := risen(previous, status, v1alpha1.ConditionNoEligibleCandidate); c != nil {
		found = append(found, finding{kind: corev1.EventTypeWarning, reason: EventNoEligibleCandidate, action: "Choose", note: c.Message})
	}
	var before *v1alpha1.DryRunStatus
	if previous != nil {
		before = previous.DryRun
	}
	return append(found, dryRunFindings(before, status)...)
}

// risen returns a condition that has become true, or is true for another
// reason. Of a conflict, the policies are the reason.
func risen(previous, status *v1alpha1.ElectionStatus, kind string) *metav1.Condition {
	c := meta.FindStatusCondition(status.Conditions, kind)
	if c == nil || c.Status != metav1.ConditionTrue {
		return nil
	}
	if previous == nil {
		return c
	}
	p := meta.FindStatusCondition(previous.Conditions, kind)
	same := p != nil && p.Status == c.Status && p.Reason == c.Reason
	if same && (kind != v1alpha1.ConditionPolicyConflict || p.Message == c.Message) {
		return nil
	}
	return c
}

// leaderChanged tells of a term that began since the previous status. A holder
// that we find when we come is no news.
func leaderChanged(previous, status *v1alpha1.ElectionStatus) (finding, bool) {
	t := currentTerm(status.Terms)
	if previous == nil || t == nil {
		return finding{}, false
	}
	if len(previous.Terms) > 0 && previous.Terms[0].Identity == t.Identity && previous.Terms[0].Start.Equal(&t.Start) {
		return finding{}, false
	}
	note := t.Holder + " leads"
	if t.Criterion != "" {
		note += " by " + t.Criterion
	}
	if len(status.Terms) > 1 {
		note += fmt.Sprintf("; the term of %s ended: %s", status.Terms[1].Holder, status.Terms[1].EndReason)
	}
	return finding{kind: corev1.EventTypeNormal, reason: EventLeaderChanged, action: "Elect", note: note, candidate: t.Holder}, true
}

// ignoredValues tells of the problems that were not told of before, and returns
// what has been told now. Problems that went away may come back as news.
func ignoredValues(told map[candidates.Problem]bool, view *candidates.View) (map[candidates.Problem]bool, []finding) {
	var found []finding
	now := make(map[candidates.Problem]bool, len(view.Problems))
	for _, p := range view.Problems {
		if !told[p] && !now[p] {
			found = append(found, finding{
				kind: corev1.EventTypeWarning, reason: EventIgnoredValue, action: "Register",
				note: p.Candidate + ": " + p.Message, pod: view.Pod(p.Candidate),
			})
		}
		now[p] = true
	}
	return now, found
}
