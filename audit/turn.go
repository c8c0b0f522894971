package audit

import (
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/audit/auditlog"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/webhook"
)

// turn takes the course on after an attempt on which the policy ruled.
func (l *leaseAudit) turn(e *auditlog.Event, a *attempt) {
	c := &l.course
	l.expire(e.Time)
	switch {
	case c.held:
		// Under the policy nobody would have tried. If the one that would have led
		// leads now, both courses are the same again.
		if e.Succeeded() && c.current.Holder == a.claimant() {
			c.rejoin(a.identity)
		}
	case a.Verdict == webhook.Allow:
		t := Term{Holder: a.claimant(), Identity: a.identity, Start: e.Time, Criterion: a.Criterion, Estimated: !e.Succeeded()}
		l.people.describe(&t)
		c.begin(t)
	case e.Succeeded() && c.electAt.IsZero():
		c.contest(e.Time, l.retry())
	}
}

// expire ends the term in a course that is in step, if the Lease was not renewed
// until at. In fact it only ends when the next holder acquires the Lease.
func (l *leaseAudit) expire(at time.Time) {
	now := l.history.Current()
	if now == nil || !l.course.held || !l.course.inStep(now.Identity) || now.Duration <= 0 {
		return
	}
	if over := now.Renewed.Add(now.Duration); at.After(over) {
		t := *now
		t.End, t.Reason = over, v1alpha1.TermExpired
		l.course.follow(&t)
	}
}

// resume takes up a renewal. A holder that the course has lost goes on if
// nobody else was to come.
func (l *leaseAudit) resume(at time.Time) {
	if now := l.history.Current(); l.governed && now != nil && !l.course.held && l.course.electAt.IsZero() {
		t := Term{Holder: now.Identity, Identity: now.Identity, Start: at}
		l.people.describe(&t)
		l.course.begin(t)
	}
}

// settle takes the course on to a time, before what happened then is taken up.
func (l *leaseAudit) settle(at time.Time) {
	c := &l.course
	for l.governed && !c.held && !c.electAt.IsZero() && !c.electAt.After(at) {
		if l.elect(c.electAt) {
			return
		}
		// Nobody may lead. At the deadline anybody available may; after it, the
		// next event may change that.
		overdue := c.contested.Add(l.deadline())
		if !c.electAt.Before(overdue) {
			overdue = at.Add(time.Millisecond)
		}
		c.electAt = overdue
	}
}

// deadline is how long the policy leaves the Lease vacant.
func (l *leaseAudit) deadline() time.Duration {
	if d := l.objects.Governing(l.key).Policy.Compiled.AcquireDeadline; d > 0 {
		return d
	}
	return l.duration()
}

// elect gives the Lease to the candidate that is chosen at that time.
func (l *leaseAudit) elect(at time.Time) bool {
	view, err := l.objects.Vacant(l.key, decodeLease(l.raw, l.key), l.course.current.Identity, at)
	if err != nil {
		return false
	}
	l.seen.addAll(view.State.Candidates)
	view.State.Lease.ContestedSince = l.course.contested
	for i := range view.State.Candidates {
		// Whoever is there would have tried.
		view.State.Candidates[i].LastAttempt = at
	}
	decision := picker.Decide(view.Policy, &view.State)
	chosen := decision.Chosen
	if chosen == nil && decision.AnyEligible && len(decision.Verdicts) > 0 && decision.Verdicts[0].Eligible {
		chosen = decision.Verdicts[0].Candidate
	}
	if chosen == nil {
		return false
	}
	t := Term{Holder: chosen.Name, Identity: view.Identity(chosen.Name), Start: at, Criterion: decision.Criterion, Estimated: true}
	describeHolder(&t, chosen)
	l.course.begin(t)
	return true
}

// podsChanged takes up that Pods of the Lease's namespace may have changed: the
// leader of a course that is not in step may be one that ended.
func (l *leaseAudit) podsChanged(at time.Time) {
	c := &l.course
	if !l.governed || !c.held || c.inStep(l.history.Holder()) || !l.seen.isPod(c.current.Holder) {
		return
	}
	view, err := l.objects.Vacant(l.key, nil, "", at)
	if err != nil {
		return
	}
	if leader := candidateOf(&view.State, c.current.Holder); leader == nil || leader.Unavailable != "" {
		c.died(at, l.releases > 0, l.duration(), l.retry())
	}
}

// duration is that of the Lease.
func (l *leaseAudit) duration() time.Duration {
	if now := l.history.Current(); now != nil && now.Duration > 0 {
		return now.Duration
	}
	if last := l.history.Last(); last != nil && last.Duration > 0 {
		return last.Duration
	}
	return picker.DefaultAcquireDeadline
}
