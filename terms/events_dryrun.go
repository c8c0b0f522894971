package terms

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// Reasons of the Events of a dry-run.
const (
	// EventWouldDeny tells of an acquire that would have been refused.
	EventWouldDeny = "WouldDeny"
	// EventWouldAct tells of what would be done about a term.
	EventWouldAct = "WouldAct"
)

// dryRunFindings are what a dry-run found that it had not found before. The same
// candidate that would be refused again for the same reason is no news.
func dryRunFindings(previous *v1alpha1.DryRunStatus, election *v1alpha1.ElectionStatus) []finding {
	status := election.DryRun
	if !status.Runs() {
		return nil
	}
	if !previous.Runs() {
		previous = &v1alpha1.DryRunStatus{}
	}
	var found []finding
	if d := status.LastDenied; d != nil && (previous.LastDenied == nil || previous.LastDenied.Message != d.Message) {
		found = append(found, finding{kind: corev1.EventTypeNormal, reason: EventWouldDeny, action: "Elect", note: d.Message, candidate: d.Candidate})
	}
	if status.WouldDo != "" && status.WouldDo != previous.WouldDo {
		f := finding{kind: corev1.EventTypeNormal, reason: EventWouldAct, action: "EndTerm", note: status.WouldDo}
		if election.Holder != nil {
			f.candidate = election.Holder.Name
		}
		found = append(found, f)
	}
	return found
}
