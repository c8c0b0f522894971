package doctor

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// longVacant is longer than any election takes.
const longVacant = time.Minute

// checkElections names the governed Leases that nobody holds, or that nobody may
// hold.
func checkElections(s *snapshot) []Finding {
	if s.elections.err != nil {
		return unread("Elections", s.elections.err)
	}
	var findings []Finding
	governed := 0
	for i := range s.elections.value.Items {
		if e := &s.elections.value.Items[i]; e.Status.Policy != "" {
			governed++
			findings = append(findings, s.checkElection(e)...)
		}
	}
	if len(findings) > 0 {
		return findings
	}
	return ok("%d, each with a holder and a candidate", governed)
}

func (s *snapshot) checkElection(e *v1alpha1.Election) []Finding {
	name := e.Namespace + "/" + e.Name
	see := "leasewarden status " + name
	nobody := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionNoEligibleCandidate)
	empty := nobody != nil && nobody.Status == metav1.ConditionTrue
	vacant := e.Status.Holder == nil
	switch {
	case empty && vacant:
		return []Finding{problem(see+" says why each may not; see whether its component runs", "Lease %s is vacant, and nobody may lead: %s", name, nobody.Message)}
	case empty:
		return []Finding{warning(see+" says why each may not", "Lease %s has a holder, and nobody could follow it: %s", name, nobody.Message)}
	case !vacant:
		return nil
	}
	since := s.vacantSince(e)
	if since.IsZero() || s.now.Sub(since) <= longVacant {
		return []Finding{warning("run this again: an election may be going on", "Lease %s is vacant", name)}
	}
	return []Finding{problem(see+"; see whether its candidates try to acquire it", "Lease %s has been vacant for %s", name, duration.HumanDuration(s.now.Sub(since)))}
}

// vacantSince is when the last term ended, zero if that is not known.
func (s *snapshot) vacantSince(e *v1alpha1.Election) time.Time {
	if len(e.Status.Terms) == 0 || e.Status.Terms[0].End == nil {
		return time.Time{}
	}
	return e.Status.Terms[0].End.Time
}
