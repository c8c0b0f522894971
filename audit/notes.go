package audit

import (
	"fmt"
	"time"
)

// notes say what could not be known of the whole log.
func (a *Audit) notes() []string {
	notes := []string{}
	if a.collections > 0 {
		notes = append(notes, fmt.Sprintf("%d times Leases of a namespace were deleted with one request, without the answer that names them, so that who held those of the namespace then is not known: "+
			"record leases at the level RequestResponse.", a.collections))
	}
	switch {
	case len(a.objects.Policies()) == 0:
	case a.noPods > 0:
		notes = append(notes, fmt.Sprintf("%d writes to Pods were recorded without the answer, so that what became of these Pods is not known: "+
			"record pods at the level RequestResponse.", a.noPods))
	case a.pods == 0:
		notes = append(notes, "The log has no Pods: candidates are taken to be what the manifests say they are, and to live until the log ends. "+
			"Record pods at the level RequestResponse to know better.")
	}
	return notes
}

// notes say what could not be known of the Lease.
func (l *leaseAudit) notes(r *Lease) []string {
	notes := []string{}
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	notes = append(notes, l.unreadable.notes()...)
	if l.governed && l.history.Total > 0 && len(l.seen) == 0 {
		add("No candidate is known, so that nobody can be chosen: give the Pods with -f, or record pods at the level RequestResponse.")
	}
	if lapses := lapses(r.AsItWas.Terms); lapses > 0 {
		add("A holder went on %d times after it had not renewed the Lease for longer than its duration: either it stood still, or a part of the log is missing. "+
			"That time counts as without a leader.", lapses)
	}
	if n := r.AsItWas.TotalTerms - len(r.AsItWas.Terms); n > 0 {
		add("The last %d terms are not listed.", n)
	}
	if r.UnderPolicy != nil && estimated(r.UnderPolicy.Terms) {
		add("Where the policy chooses another candidate than the one that led, it is taken to acquire the Lease %s after the refusal (how often holders renewed it), "+
			"and to lead for as long as it lives. Preemption, and releasing the Lease for a dead holder, are not played.", l.retry().Round(100*time.Millisecond))
	}
	return notes
}

func lapses(terms []Term) int {
	n := 0
	for i := range terms {
		n += terms[i].Lapses
	}
	return n
}

func estimated(terms []Term) bool {
	for i := range terms {
		if terms[i].Estimated {
			return true
		}
	}
	return false
}
