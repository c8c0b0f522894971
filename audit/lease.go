package audit

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/audit/auditlog"
	"github.com/leasewarden/leasewarden/audit/history"
	"github.com/leasewarden/leasewarden/candidates"
)

// leaseAudit is what is known of one Lease.
type leaseAudit struct {
	key      types.NamespacedName
	governed bool
	objects  *candidates.Replay
	users    users

	history history.History
	// raw is the Lease as last written, at written; nil: not known, or deleted.
	raw     []byte
	written time.Time
	renewal renewal

	people     people
	seen       sightings
	course     course
	rulings    rulings
	recorded   recorded
	unreadable unreadable
	// releases counts terms that ended by a release.
	releases int
	// every is how often a holder renewed it.
	every time.Duration
}

// take takes up a request about the Lease.
func (l *leaseAudit) take(e *auditlog.Event) {
	switch e.Verb {
	case "create", "update", "patch":
		l.write(e)
	case "delete":
		if e.Succeeded() && !e.DryRun {
			l.delete(e.Time)
		}
	default:
		l.seen.heard(podOf(l.users.get(e.User)), e.Time)
	}
}

func (l *leaseAudit) write(e *auditlog.Event) {
	if e.DryRun || e.Ref.Subresource != "" {
		return
	}
	if e.Succeeded() && l.raw != nil && e.Verb == "update" && l.renewal.is(e.Request) {
		l.renew(e)
		return
	}
	asked := decodeLease(leaseAsked(e, l.raw), l.key)
	if asked == nil && e.Succeeded() {
		asked = decodeLease(e.Response, l.key)
	}
	if asked == nil {
		if e.Succeeded() {
			l.blind(e)
		}
		return
	}
	ruling := l.rule(e, asked)
	if e.Succeeded() {
		l.store(e, ruling)
	}
	if ruling != nil {
		l.turn(e, ruling)
	}
}

// renew is the short way for what most writes are.
func (l *leaseAudit) renew(e *auditlog.Event) {
	l.history.Renew(e.Time)
	l.raw = append(l.raw[:0], leaseAfter(e, l.raw)...)
	l.written = e.Time
	l.resume(e.Time)
}

// store takes up the Lease as the write left it.
func (l *leaseAudit) store(e *auditlog.Event, ruling *attempt) {
	raw := leaseAfter(e, l.raw)
	lease := decodeLease(raw, l.key)
	if lease == nil {
		l.blind(e)
		return
	}
	held, holder := l.history.Current() != nil, l.history.Holder()
	change := l.history.Write(writeOf(lease, e))
	l.raw, l.written, l.renewal = append([]byte(nil), raw...), e.Time, newRenewal(lease)
	switch {
	case change == history.Renewed:
		l.resume(e.Time)
		return
	case change == history.Released:
		l.releases++
	}
	if held && !ruling.tooEarly() {
		l.ended(holder)
	}
	if !l.governed {
		return
	}
	l.objects.Observe(lease, e.Time)
	if now := l.history.Current(); now != nil && now.Earlier {
		// The log begins in the middle of a term: so do both courses.
		l.course.begin(l.known(now.Identity, lease, e))
	}
}

func writeOf(lease *coordinationv1.Lease, e *auditlog.Event) history.Write {
	w := history.Write{Time: e.Time, Create: e.Verb == "create"}
	s := &lease.Spec
	if s.HolderIdentity != nil {
		w.Holder = *s.HolderIdentity
	}
	if s.LeaseDurationSeconds != nil {
		w.Duration = time.Duration(*s.LeaseDurationSeconds) * time.Second
	}
	if s.AcquireTime != nil {
		w.Acquire = s.AcquireTime.Time
	}
	if s.RenewTime != nil {
		w.Renew = s.RenewTime.Time
	}
	return w
}

// ended takes up that the last term ended in fact: the course follows if it is
// in step.
func (l *leaseAudit) ended(holder string) {
	if t := l.history.Last(); t != nil {
		if every := t.Every(); every > 0 {
			l.every = every
		}
		if l.governed && l.course.held && l.course.inStep(holder) {
			l.course.follow(t)
		}
	}
}

func (l *leaseAudit) delete(at time.Time) {
	held, holder := l.history.Current() != nil, l.history.Holder()
	l.history.Delete(at)
	if held {
		l.ended(holder)
	}
	if lease := decodeLease(l.raw, l.key); lease != nil && l.governed {
		l.objects.Observe(lease, l.written)
		l.objects.Deleted(lease, at)
	}
	l.raw, l.renewal = nil, renewal{}
}

// known is the term of a holder that had the Lease before the log began.
func (l *leaseAudit) known(identity string, lease *coordinationv1.Lease, e *auditlog.Event) Term {
	t := Term{Holder: identity, Identity: identity, Start: l.history.Current().Start, Earlier: true}
	view, err := l.objects.View(l.key, lease, e.Time)
	if err != nil {
		return t
	}
	l.seen.addAll(view.State.Candidates)
	name := view.Identify(identity, l.users.get(e.User)).Candidate
	if c := candidateOf(&view.State, name); c != nil {
		l.people.add(identity, c)
		l.people.describe(&t)
		l.seen.heard(name, e.Time)
	}
	return t
}
