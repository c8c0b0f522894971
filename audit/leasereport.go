package audit

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/audit/history"
)

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// report ends the audit of the Lease at the end of the log.
func (l *leaseAudit) report(end time.Time) Lease {
	l.settle(end)
	running, holder := l.history.Current() != nil, l.history.Holder()
	l.history.Finish(end)
	if running && l.history.Current() == nil {
		l.ended(holder)
	}
	r := Lease{
		Lease:      l.key.String(),
		AsItWas:    *newCourse(&l.history.Totals, l.termsAsTheyWere()),
		Attempts:   l.rulings.report(),
		Refusals:   l.rulings.refusals,
		Candidates: l.seen.report(),
		Recorded:   l.recorded.report(),
	}
	if r.Refusals == nil {
		r.Refusals = []Refusal{}
	}
	if l.governed {
		l.underPolicy(&r, end)
	}
	r.Notes = l.notes(&r)
	return r
}

func (l *leaseAudit) underPolicy(r *Lease, end time.Time) {
	policy := l.objects.Governing(l.key).Policy
	r.Policy = policy.Ref.String()
	r.Strategy, r.Mode = string(policy.Spec.Strategy.Name), string(policy.Spec.Mode)
	if l.history.Total > 0 && len(l.seen) > 0 {
		l.course.finish(end, l.history.Current())
		r.UnderPolicy = l.course.report()
	}
}

func (l *leaseAudit) termsAsTheyWere() []Term {
	terms := make([]Term, 0, len(l.history.Terms))
	for i := range l.history.Terms {
		t := &l.history.Terms[i]
		out := Term{
			Holder: t.Identity, Identity: t.Identity, Start: t.Start, Earlier: t.Earlier,
			Renewed: t.Alive(), Reason: t.Reason, Renewals: t.Renewals, Lapses: len(t.Lapses), NotKnown: t.Unknown(),
		}
		if !t.End.IsZero() {
			out.End = &t.End
		}
		l.people.describe(&out)
		terms = append(terms, out)
	}
	return terms
}

func newCourse(totals *history.Totals, terms []Term) *Course {
	if terms == nil {
		terms = []Term{}
	}
	return &Course{
		Changes:       totals.Changes,
		WithoutLeader: seconds(totals.Vacant),
		Longest:       seconds(totals.Longest),
		Vacancies:     totals.Vacancies,
		NotKnown:      seconds(totals.Unknown),
		TotalTerms:    totals.Total,
		Terms:         terms,
	}
}

// seconds are rounded to what an audit log can tell.
func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
