package terms

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// counterfactual is what the next status of a dry-run is made from. It does no
// I/O and reads no clock.
//
// It follows what happens for as long as the policy would have changed nothing
// (in step). From the first acquire on that the policy would have refused, or
// the first holder that would have had to make way, it takes the chosen
// candidate to lead in its place, and to do so for as long as it lives. Once
// that one leads in fact, both are in step again.
type counterfactual struct {
	// last is the status as it was. Nil: the dry-run begins. known are the terms
	// that it took up.
	last  *v1alpha1.DryRunStatus
	known []v1alpha1.Term
	// terms are the Lease's, the newest first. born says that the Lease was seen
	// to come to be.
	terms []v1alpha1.Term
	born  bool
	view  *candidates.View
	// would is what would be done about the term of the holder.
	would intention
	now   time.Time
}

// next is the status as of now.
func (c *counterfactual) next() *v1alpha1.DryRunStatus {
	var next *v1alpha1.DryRunStatus
	switch {
	case c.last.Runs():
		next = c.last.DeepCopy()
		c.recognise(next)
		c.follow(next)
	case c.last == nil && c.born && len(c.known) == 0:
		next = &v1alpha1.DryRunStatus{Since: seconds(c.now)}
		c.follow(next)
	default:
		next = c.begin()
	}
	c.settle(next)
	next.WouldDo = candidates.Clip(c.would.note, maxMessageBytes)
	next.Message = candidates.Clip(c.message(next), maxMessageBytes)
	return next
}

// follow takes up the terms that are news.
func (c *counterfactual) follow(next *v1alpha1.DryRunStatus) {
	for _, t := range c.news() {
		c.acquired(next, t.before, &t.term)
	}
}

// recognise takes up that a holder that was known by its identity alone is a
// candidate.
func (c *counterfactual) recognise(next *v1alpha1.DryRunStatus) {
	if len(c.terms) > 0 && next.Leader == c.terms[0].Identity {
		next.Leader = c.terms[0].Holder
	}
}

// begin is a dry-run that begins: whoever holds the Lease keeps it.
func (c *counterfactual) begin() *v1alpha1.DryRunStatus {
	next := &v1alpha1.DryRunStatus{Since: seconds(c.now)}
	if t := currentTerm(c.terms); t != nil {
		next.Leader, next.LeaderSince = t.Holder, &t.Start
	}
	return next
}

// beginning is a term that is news, and the one before it. Nil: there is none.
type beginning struct {
	term   v1alpha1.Term
	before *v1alpha1.Term
}

// news are the terms that began since the last status, the oldest first.
func (c *counterfactual) news() []beginning {
	var found []beginning
	for i := range c.terms {
		t := c.terms[i]
		if len(c.known) > 0 && sameTerm(&t, &c.known[0]) {
			break
		}
		if t.Holder == t.Identity {
			if name := c.view.Identify(t.Identity, nil).Candidate; name != "" {
				t.Holder = name
			}
		}
		b := beginning{term: t}
		if i+1 < len(c.terms) {
			b.before = &c.terms[i+1]
		}
		found = append(found, b)
	}
	slices.Reverse(found)
	return found
}

func sameTerm(a, b *v1alpha1.Term) bool { return a.Identity == b.Identity && a.Start.Equal(&b.Start) }

// acquired takes up that somebody acquired the Lease in fact.
func (c *counterfactual) acquired(next *v1alpha1.DryRunStatus, before, t *v1alpha1.Term) {
	another := before == nil || before.Identity != t.Identity
	if another {
		next.HolderChanges++
	}
	if before != nil && next.Leader == before.Holder {
		c.vacate(next, *before.End)
	}
	d := c.decide(next, time.Time{})
	if !d.Allows(t.Holder) {
		next.WouldDeny++
		next.LastDenied = &v1alpha1.DryRunDenial{
			Candidate: t.Holder, Time: t.Start,
			Message: candidates.Clip(denial(d, t.Holder), maxMessageBytes),
		}
	}
	switch {
	case next.Leader != "": // nobody would have tried
	case d.Allows(t.Holder):
		c.lead(next, t.Holder, t.Start.Time, another)
	case d.Chosen != nil:
		c.lead(next, d.Chosen.Name, t.Start.Time, false)
	}
}

// denial says why an acquire would have been refused.
func denial(d *picker.Decision, holder string) string {
	v := d.Verdict(holder)
	switch {
	case v == nil:
		return holder + " would have been refused: it is no candidate"
	case !v.Eligible:
		return fmt.Sprintf("%s would have been refused: it is not eligible (%s: %s)", holder, v.Filter, candidates.Clip(v.Reason, maxReasonBytes))
	case d.Chosen == nil:
		return holder + " would have been refused"
	}
	return fmt.Sprintf("%s would have been refused: %s is chosen by %s", holder, d.Chosen.Name, d.Criterion)
}

// settle takes the counterfactual on to now.
func (c *counterfactual) settle(next *v1alpha1.DryRunStatus) {
	switch {
	case next.Leader == "":
	case !c.inStep(next):
		c.outlive(next)
	case currentTerm(c.terms) == nil:
		c.vacate(next, *c.terms[0].End)
	case c.would.replacement != "":
		c.lead(next, c.would.replacement, c.now, false)
	case c.would.action == ActionRelease:
		c.vacate(next, seconds(c.now))
	}
	if next.Leader == "" && currentTerm(c.terms) != nil {
		c.elect(next)
	}
}

// inStep reports whether who would lead is who holds the Lease, or was the last
// to.
func (c *counterfactual) inStep(next *v1alpha1.DryRunStatus) bool {
	return len(c.terms) > 0 && c.terms[0].Holder == next.Leader
}

// outlive looks after a leader that does not hold the Lease in fact: it leads
// for as long as it lives, or has to make way itself.
func (c *counterfactual) outlive(next *v1alpha1.DryRunStatus) {
	state := c.view.State
	state.Lease.Holder, state.Lease.LastHolder, state.Lease.ContestedSince = next.Leader, "", time.Time{}
	d := picker.Decide(c.view.Policy, &state)
	v := d.Verdict(next.Leader)
	switch {
	case v == nil || v.Candidate.Unavailable != "":
		c.vacate(next, seconds(c.now))
	case picker.Preempts(c.view.Policy, &d, next.Leader) && c.mayMove(next, &d):
		c.lead(next, d.Chosen.Name, c.now, false)
	}
}

// mayMove reports whether the policy would leave the leader alone no longer.
func (c *counterfactual) mayMove(next *v1alpha1.DryRunStatus, d *picker.Decision) bool {
	p := c.view.Spec.Preemption
	rest := max(p.MinTerm.Duration, p.Cooldown.Duration)
	rollout := c.view.Policy.Preempt == v1alpha1.PreemptAfterRollout && rolling(d, next.Leader)
	return d.ByHand() || !rollout && c.now.Sub(next.LeaderSince.Time) >= rest
}

// elect has a vacant Lease acquired by whoever would: all that are there would
// try, as they do when nobody holds it.
func (c *counterfactual) elect(next *v1alpha1.DryRunStatus) {
	since := c.now
	if next.LeaderSince != nil {
		since = next.LeaderSince.Time
	}
	d := c.decide(next, since)
	holder := currentTerm(c.terms).Holder
	switch {
	case d.Allows(holder):
		c.lead(next, holder, c.now, false)
	case d.Chosen != nil:
		c.lead(next, d.Chosen.Name, c.now, false)
	case d.AnyEligible && len(d.Verdicts) > 0 && d.Verdicts[0].Eligible:
		c.lead(next, d.Verdicts[0].Candidate.Name, c.now, false)
	}
}

// decide is the picker's answer if nobody held the Lease and the leader, or the
// former one, had been the last to. contested is since when others try in vain.
// Zero: nobody does.
func (c *counterfactual) decide(next *v1alpha1.DryRunStatus, contested time.Time) *picker.Decision {
	state := c.view.State
	last := next.Leader
	if last == "" {
		last = next.FormerLeader
	}
	state.Lease.Holder, state.Lease.LastHolder, state.Lease.ContestedSince = "", last, contested
	if !contested.IsZero() {
		state.Candidates = slices.Clone(state.Candidates)
		for i := range state.Candidates {
			state.Candidates[i].LastAttempt = c.now
		}
	}
	d := picker.Decide(c.view.Policy, &state)
	return &d
}

// lead has a candidate lead. another says that it is another process than the
// last leader, even if it has the same name.
func (c *counterfactual) lead(next *v1alpha1.DryRunStatus, name string, since time.Time, another bool) {
	if next.Leader != "" {
		next.FormerLeader = next.Leader
	}
	if another || next.FormerLeader != name {
		next.LeaderChanges++
	}
	at := seconds(since)
	next.Leader, next.LeaderSince = name, &at
}

func (c *counterfactual) vacate(next *v1alpha1.DryRunStatus, at metav1.Time) {
	next.FormerLeader, next.Leader, next.LeaderSince = next.Leader, "", &at
}

// message says how far the counterfactual can be known.
func (c *counterfactual) message(next *v1alpha1.DryRunStatus) string {
	holder := "nobody"
	if t := currentTerm(c.terms); t != nil {
		holder = t.Holder
	}
	switch {
	case next.Leader == holder || next.Leader == "" && holder == "nobody":
		return "the same candidate leads as would under the policy"
	case next.Leader == "":
		return fmt.Sprintf("%s holds the Lease, which nobody would under the policy: no candidate is eligible", holder)
	}
	return fmt.Sprintf("%s holds the Lease in fact. That %s would have taken it at once, and would lead for as long as it lives, is an estimate", holder, next.Leader)
}

// recheckDryRun is when to look again at a dry-run in which nobody would lead
// although somebody does. Zero: when something changes.
func recheckDryRun(status *v1alpha1.ElectionStatus, now time.Time) time.Time {
	if !status.DryRun.Runs() || status.DryRun.Leader != "" || status.Holder == nil {
		return time.Time{}
	}
	return now.Add(recheckSoon)
}
