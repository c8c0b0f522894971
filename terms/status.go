package terms

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// Bounds of what the status of an Election holds, so that no number of
// candidates, no expression of a policy, and nothing that somebody makes up
// makes it too large to store.
const (
	maxListedCandidates = 100
	maxReasonBytes      = 256
	maxScoreBytes       = 64
	maxMessageBytes     = 1024
)

// sighting is what the status of an Election is made from.
type sighting struct {
	view     *candidates.View
	decision *picker.Decision
	// dryRun says that nobody is refused, whatever the policy says.
	dryRun bool
	// lease is the Lease as it is. Nil: it was deleted, and is remembered.
	lease *coordinationv1.Lease
	// terms are the Lease's, the newest first. born says that we have seen the
	// Lease come to be.
	terms []v1alpha1.Term
	born  bool
	// wanted is what people want of the Lease.
	wanted wanted
	// stepping is the condition SteppingDown, would what would be done in another
	// mode.
	stepping metav1.Condition
	would    intention
	// previous is the status as it was: conditions that still hold keep their
	// times.
	previous *v1alpha1.ElectionStatus
	// now is the time of conditions that changed.
	now time.Time
}

// status depends on the sighting alone: the same one gives the same bytes, and
// a renewal of the Lease gives the status that is there already.
func (s *sighting) status() v1alpha1.ElectionStatus {
	status := v1alpha1.ElectionStatus{
		Policy:     s.view.Policy.Kind + "/" + s.view.Policy.Name,
		Strategy:   s.view.Policy.Strategy,
		Mode:       s.mode(),
		Holder:     s.holder(),
		Criterion:  candidates.Clip(s.decision.Criterion, maxReasonBytes),
		Eligible:   fmt.Sprintf("%d/%d", s.eligible(), len(s.decision.Verdicts)),
		Candidates: s.verdicts(),
		Switchover: s.switchover(),
		Pin:        s.pinNext(),
		Terms:      s.terms,
		DryRun:     s.rehearse(),
	}
	if s.decision.Chosen != nil {
		status.Chosen = s.decision.Chosen.Name
	}
	status.Conditions = s.conditions(status.Pin)
	return status
}

// rehearse is what would have happened if the policy were enforced. Once it is,
// or the Lease is none of ours, what was found before is kept.
func (s *sighting) rehearse() *v1alpha1.DryRunStatus {
	last := s.previous.DryRun
	aside := s.lease != nil && candidates.CoordinatedByOthers(s.lease)
	switch {
	case s.mode() == v1alpha1.DryRun && !aside:
		c := &counterfactual{last: last, known: s.previous.Terms, terms: s.terms, born: s.born, view: s.view, would: s.would, now: s.now}
		return c.next()
	case last.Runs():
		last = last.DeepCopy()
		until := seconds(s.now)
		last.Until, last.WouldDo, last.Message = &until, "", ""
	}
	return last
}

func (s *sighting) mode() v1alpha1.Mode {
	if s.dryRun {
		return v1alpha1.DryRun
	}
	return s.view.Policy.Mode
}

// holder is who leads: a holder whose term has ended does not.
func (s *sighting) holder() *v1alpha1.ElectionHolder {
	t := currentTerm(s.terms)
	if t == nil {
		return nil
	}
	return &v1alpha1.ElectionHolder{Name: t.Holder, Identity: t.Identity, Since: &t.Start}
}

// eligible counts the candidates that passed the filters.
func (s *sighting) eligible() int {
	n := 0
	for i := range s.decision.Verdicts {
		if s.decision.Verdicts[i].Eligible {
			n++
		}
	}
	return n
}

// verdicts lists the candidates in the picker's order. Of very many it lists
// the first ones, and the holder in any case.
func (s *sighting) verdicts() []v1alpha1.CandidateVerdict {
	all := s.decision.Verdicts
	listed := make([]v1alpha1.CandidateVerdict, 0, min(len(all), maxListedCandidates))
	for i := range all[:min(len(all), maxListedCandidates)] {
		listed = append(listed, verdict(&all[i]))
	}
	if len(all) <= maxListedCandidates {
		return listed
	}
	holder := s.view.State.Lease.Holder
	for i := maxListedCandidates; i < len(all); i++ {
		if all[i].Candidate.Name == holder {
			listed[maxListedCandidates-1] = verdict(&all[i])
		}
	}
	return listed
}

func verdict(v *picker.Verdict) v1alpha1.CandidateVerdict {
	c := v.Candidate
	out := v1alpha1.CandidateVerdict{
		Name:     c.Name,
		Sources:  make([]string, len(c.Sources)),
		Node:     candidates.Clip(c.Node, maxReasonBytes),
		Version:  candidates.Clip(c.BinaryVersion.String(), maxScoreBytes),
		Eligible: v.Eligible,
	}
	for i, source := range c.Sources {
		out.Sources[i] = string(source)
	}
	if e := candidates.Clip(c.EmulationVersion.String(), maxScoreBytes); e != out.Version {
		out.EmulationVersion = e
	}
	if !v.Eligible {
		out.Reason = candidates.Clip(v.Filter+": "+v.Reason, maxReasonBytes)
	}
	for _, score := range v.Scores {
		out.Scores = append(out.Scores, candidates.Clip(score.String(), maxScoreBytes))
	}
	return out
}

// describe returns the current term with what is known of its holder now, or
// nil if there is no current term. fresh says that it has just begun.
func (s *sighting) describe(fresh bool) *v1alpha1.Term {
	if currentTerm(s.terms) == nil {
		return nil
	}
	t := s.terms[0]
	if name := s.view.Identify(t.Identity, nil).Candidate; name != "" && t.Holder == t.Identity {
		t.Holder = name
	}
	if v := s.decision.Verdict(t.Holder); v != nil && t.Version == "" {
		t.Version = candidates.Clip(v.Candidate.BinaryVersion.String(), maxScoreBytes)
	}
	if fresh {
		t.Criterion = candidates.Clip(s.criterionOf(&t), maxReasonBytes)
	}
	return &t
}

// criterionOf is what decided for the holder of the term: as the webhook stamped
// it on the Lease, which may be past, as with candidates that were passed over;
// or else as we see it. Empty: nothing did, as far as we know.
func (s *sighting) criterionOf(t *v1alpha1.Term) string {
	switch {
	case s.stamped(t.Identity):
		return s.lease.Annotations[v1alpha1.CriterionAnnotation]
	case s.decision.Allows(t.Holder):
		return s.decision.Criterion
	}
	return ""
}

// stamped reports whether the Lease says by what that very holder was elected.
func (s *sighting) stamped(identity string) bool {
	return s.lease != nil && s.lease.Annotations[v1alpha1.ElectedAnnotation] == identity &&
		s.lease.Annotations[v1alpha1.ElectedByAnnotation] == s.view.Policy.String()
}

// conditions are the five of an Election, always in the same order, and those
// that are there if somebody wants something.
func (s *sighting) conditions(pin *v1alpha1.PinStatus) []metav1.Condition {
	out := []metav1.Condition{s.ready(), s.policyConflict(), s.noEligibleCandidate(), s.holderNotChosen(), s.stepping}
	out = append(out, s.byHand(pin)...)
	for i := range out {
		settle(&out[i], s.previous.Conditions, s.now)
	}
	return out
}
