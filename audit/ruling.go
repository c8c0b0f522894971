package audit

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasewarden/leasewarden/audit/auditlog"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/webhook"
)

// attempt is an attempt to acquire the Lease, and what the policy says of it.
type attempt struct {
	webhook.Ruling
	identity string
}

// tooEarly reports whether the policy refuses to cut a term short.
func (a *attempt) tooEarly() bool {
	return a != nil && a.Verdict == webhook.Deny && a.Reason == webhook.ReasonTermRunning
}

// claimant is the candidate that asked, or else the identity.
func (a *attempt) claimant() string {
	if a.Claimant != "" {
		return a.Claimant
	}
	return a.identity
}

// rule rules on a write that asks for the Lease. It returns nil for one that
// does not, and for one on which nobody rules.
func (l *leaseAudit) rule(e *auditlog.Event, asked *coordinationv1.Lease) *attempt {
	if !l.governed {
		return nil
	}
	transition, old := l.transition(e, asked)
	switch {
	case !transition.Contests():
		return nil
	case e.Code == http.StatusConflict:
		// The API server finds out before it asks anybody.
		l.rulings.conflicts++
		return nil
	case !e.Succeeded() && !refused(e):
		return nil
	}
	if old != nil {
		l.objects.Observe(old, l.written)
	}
	ballot, err := l.objects.Attempt(candidates.Attempt{Old: old, New: asked, User: *l.users.get(e.User), Time: e.Time})
	if err != nil {
		return nil
	}
	identity := *asked.Spec.HolderIdentity
	ruling := &attempt{webhook.Rule(transition, identity, ballot, false), identity}
	l.seen.addAll(ballot.State.Candidates)
	l.seen.heard(ruling.Claimant, e.Time)
	if c := candidateOf(&ballot.State, ruling.Claimant); c != nil {
		l.people.add(identity, c)
	}
	l.rulings.add(e, ruling)
	l.recorded.compare(e, &ruling.Ruling)
	return ruling
}

// transition says what a write means, and how the Lease was before.
func (l *leaseAudit) transition(e *auditlog.Event, asked *coordinationv1.Lease) (webhook.Transition, *coordinationv1.Lease) {
	if e.Verb == "create" {
		return webhook.Classify(admissionv1.Create, nil, asked), nil
	}
	old := decodeLease(l.raw, l.key)
	if w := writeOf(asked, e); old == nil && !w.Renew.Equal(w.Acquire) {
		// How it was before is not known, and this does not say that it acquires:
		// the holder had it before the log began.
		return webhook.Renew, nil
	}
	return webhook.Classify(admissionv1.Update, old, asked), old
}

// refused reports whether an admission webhook or policy refused the write, and
// not the authorizer, which is asked before.
func refused(e *auditlog.Event) bool {
	return e.Code == http.StatusForbidden && strings.Contains(e.Message, "denied")
}

func candidateOf(state *picker.State, name string) *picker.Candidate {
	for i := range state.Candidates {
		if state.Candidates[i].Name == name {
			return &state.Candidates[i]
		}
	}
	return nil
}

// maxRefusals bounds the refusals that a report lists of one Lease.
const maxRefusals = 1000

// rulings counts rulings.
type rulings struct {
	total, conflicts, refused int
	reasons                   map[string]int
	refusals                  []Refusal
}

func (r *rulings) add(e *auditlog.Event, a *attempt) {
	r.total++
	if a.Verdict != webhook.Deny {
		return
	}
	if r.reasons == nil {
		r.reasons = map[string]int{}
	}
	r.refused++
	r.reasons[string(a.Reason)]++
	r.list(Refusal{
		Time: e.Time, Count: 1, Claimant: a.claimant(), Chosen: a.Chosen, Reason: string(a.Reason),
		Message: a.Message, Acquired: e.Succeeded(), Origin: e.Origin.String(),
	})
}

// list puts refusals that are alike together: an elector tries every few
// seconds.
func (r *rulings) list(f Refusal) {
	if n := len(r.refusals); n > 0 {
		last := &r.refusals[n-1]
		if last.Claimant == f.Claimant && last.Chosen == f.Chosen && last.Reason == f.Reason && last.Acquired == f.Acquired {
			last.Count++
			return
		}
	}
	if len(r.refusals) < maxRefusals {
		r.refusals = append(r.refusals, f)
	}
}

func (r *rulings) report() Attempts {
	all := Attempts{Total: r.total, Refused: r.refused, Conflicts: r.conflicts, Reasons: r.reasons}
	if all.Reasons == nil {
		all.Reasons = map[string]int{}
	}
	return all
}

// maxDifferences bounds the differences that a report names of one Lease.
const maxDifferences = 10

// recorded compares rulings with those that the log has.
type recorded struct{ Recorded }

// annotationOf returns one of the annotations that the webhook leaves: the API
// server puts the name of the webhook before its key.
func annotationOf(annotations map[string]string, key string) string {
	for name, value := range annotations {
		if webhookName, found := strings.CutSuffix(name, "/"+key); found && strings.HasSuffix(webhookName, webhookDomain) {
			return value
		}
	}
	return ""
}

const webhookDomain = ".leasewarden.dev"

func (r *recorded) compare(e *auditlog.Event, ruling *webhook.Ruling) {
	var annotations map[string]string
	if e.Annotations == nil || json.Unmarshal(e.Annotations, &annotations) != nil {
		return
	}
	decision := annotationOf(annotations, webhook.AuditDecision)
	if decision == "" {
		return
	}
	if r.Decisions == nil {
		r.Decisions, r.Differences = map[string]int{}, []string{}
	}
	r.Decisions[decision]++
	if decision == string(ruling.Verdict) && annotationOf(annotations, webhook.AuditChosen) == ruling.Chosen {
		r.Agree++
		return
	}
	r.Differ++
	if len(r.Differences) < maxDifferences {
		r.Differences = append(r.Differences, e.Origin.String())
	}
}

func (r *recorded) report() *Recorded {
	if r.Decisions == nil {
		return nil
	}
	return &r.Recorded
}

// retry is how soon the chosen candidate is taken to try.
func (l *leaseAudit) retry() time.Duration {
	if now := l.history.Current(); now != nil && now.Renewals > 0 {
		return now.Every()
	}
	if l.every > 0 {
		return l.every
	}
	return defaultRetry
}
