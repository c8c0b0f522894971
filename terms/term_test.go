package terms

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// zero is the time that tests count seconds from.
var zero = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return zero.Add(time.Duration(seconds * float64(time.Second))) }

// held is a Lease of 15 s; "" is nobody.
func held(holder string, acquired, renewed float64) *coordinationv1.Lease {
	duration := int32(15)
	a, r := metav1.NewMicroTime(at(acquired)), metav1.NewMicroTime(at(renewed))
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease", UID: "1"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &duration, AcquireTime: &a, RenewTime: &r,
		},
	}
}

// step is one thing that happens to a history. A step without a lease and a
// deletion only lets time pass.
type step struct {
	at      float64
	lease   *coordinationv1.Lease
	deleted bool
}

func (s step) on(h *history) bool {
	switch {
	case s.deleted:
		return h.delete(at(s.at))
	case s.lease != nil:
		return h.observe(s.lease, at(s.at))
	}
	return h.expire(at(s.at))
}

// write is terms as the table writes them: "b 20-; a 0-20 TakenOver".
func write(terms []v1alpha1.Term) string {
	var out []string
	for _, t := range terms {
		line := fmt.Sprintf("%s %g-", t.Identity, t.Start.Sub(zero).Seconds())
		if t.End != nil {
			line += fmt.Sprintf("%g %s", t.End.Sub(zero).Seconds(), t.EndReason)
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func read(t *testing.T, s string) []v1alpha1.Term {
	t.Helper()
	var terms []v1alpha1.Term
	for line := range strings.SplitSeq(s, "; ") {
		var holder, reason string
		var start, end float64
		n, err := fmt.Sscanf(line, "%s %g-%g %s", &holder, &start, &end, &reason)
		if n < 2 {
			t.Fatalf("terms %q: %v", line, err)
		}
		term := v1alpha1.Term{Holder: holder, Identity: holder, Start: metav1.NewTime(at(start)), EndReason: reason}
		if n == 4 {
			e := metav1.NewTime(at(end))
			term.End = &e
		}
		terms = append(terms, term)
	}
	return terms
}

func TestHistory(t *testing.T) {
	tests := []struct {
		name string
		// recorded is what the Election said before we came.
		recorded string
		steps    []step
		want     string
	}{
		{name: "never held", steps: []step{{at: 0, lease: held("", 0, 0)}}, want: ""},
		{name: "acquired", steps: []step{{at: 0, lease: held("", 0, 0)}, {at: 5, lease: held("a", 4, 4)}}, want: "a 4-"},
		{name: "found held", steps: []step{{at: 100, lease: held("a", 10, 99)}}, want: "a 10-"},
		{name: "renewed", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("a", 0, 10)}, {at: 20}, {at: 24, lease: held("a", 0, 24)}, {at: 38},
		}, want: "a 0-"},
		{name: "released", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("", 9, 9)},
		}, want: "a 0-9 Released"},
		{name: "released and acquired", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("", 9, 9)}, {at: 12, lease: held("b", 11, 11)},
		}, want: "b 11-; a 0-9 Released"},
		{name: "released by a holder without times", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: &coordinationv1.Lease{}},
		}, want: "a 0-10 Released"},
		{name: "expired", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("a", 0, 10)}, {at: 24.9}, {at: 25},
		}, want: "a 0-25 Expired"},
		{name: "expired and taken over", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 15}, {at: 17, lease: held("b", 16, 16)},
		}, want: "b 16-; a 0-15 Expired"},
		{name: "taken over on expiry, before our timer", steps: []step{
			{at: 0.5, lease: held("a", 0, 0)}, {at: 15.2, lease: held("b", 15, 15)},
		}, want: "b 15-; a 0-15 Expired"},
		{name: "taken over", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("b", 9, 9)},
		}, want: "b 9-; a 0-9 TakenOver"},
		{name: "deleted", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, deleted: true},
		}, want: "a 0-10 Deleted"},
		{name: "deleted while vacant", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("", 9, 9)}, {at: 11, deleted: true},
		}, want: "a 0-9 Released"},
		{name: "deleted and made anew by the same holder", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, deleted: true}, {at: 12, lease: held("a", 11, 11)},
		}, want: "a 11-; a 0-10 Deleted"},
		{name: "a holder that we counted out goes on", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 15}, {at: 16, lease: held("a", 0, 16)},
		}, want: "a 0-"},
		{name: "a holder that we counted out acquires anew", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 15}, {at: 30, lease: held("a", 29, 29)},
		}, want: "a 29-; a 0-15 Expired"},
		{name: "an annotation on an expired lease is no renewal", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 15}, {at: 16, lease: held("a", 0, 0)},
		}, want: "a 0-15 Expired"},
		{name: "the acquire time of a clock that is behind", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("", 9, 9)}, {at: 20, lease: held("b", -3600, -3600)},
		}, want: "b 10-; a 0-9 Released"},
		{name: "the acquire time of a clock that is ahead", steps: []step{
			{at: 0, lease: held("a", 0, 0)}, {at: 10, lease: held("", 9, 9)}, {at: 20, lease: held("b", 3600, 3600)},
		}, want: "b 20-; a 0-9 Released"},
		{name: "a holder whose clock is behind does not expire early", steps: []step{
			{at: 0, lease: held("", 0, 0)}, {at: 1, lease: held("a", -50, -50)}, {at: 11, lease: held("a", -50, -40)}, {at: 25},
		}, want: "a 0-"},
		{name: "an abandoned lease", steps: []step{{at: 0, lease: held("a", -9000, -1000)}}, want: "a -9000--985 Expired"},
		{name: "a holder whose clock is far behind, found held", steps: []step{
			{at: 0, lease: held("a", -9000, -1000)}, {at: 2, lease: held("a", -9000, -998)},
		}, want: "a -9000-"},
		{name: "no duration", steps: []step{
			{at: 0, lease: func() *coordinationv1.Lease { l := held("a", 0, 0); l.Spec.LeaseDurationSeconds = nil; return l }()}, {at: 9999},
		}, want: "a 0-"},

		{name: "after a restart, the same term", recorded: "a 0-", steps: []step{{at: 100, lease: held("a", 0, 99)}}, want: "a 0-"},
		{name: "after a restart, the next term", recorded: "a 0-", steps: []step{{at: 100, lease: held("b", 50, 99)}}, want: "b 50-; a 0-50 TakenOver"},
		{name: "after a restart, vacant", recorded: "a 0-", steps: []step{{at: 100, lease: held("", 60, 60)}}, want: "a 0-60 Released"},
		{name: "after a restart, gone", recorded: "a 0-", steps: []step{{at: 100, deleted: true}}, want: "a 0-100 Deleted"},
		{name: "after a restart, abandoned meanwhile", recorded: "a 0-", steps: []step{{at: 1000, lease: held("a", 0, 200)}}, want: "a 0-215 Expired"},
		{name: "after a restart, still abandoned", recorded: "a 0-15 Expired", steps: []step{{at: 20, lease: held("a", 0, 0)}}, want: "a 0-15 Expired"},
		{name: "after a restart, back again", recorded: "a 0-15 Expired", steps: []step{{at: 20, lease: held("a", 0, 19)}}, want: "a 0-"},
		{name: "after a restart, by a clock that is behind", recorded: "a 20-30 Released", steps: []step{{at: 40, lease: held("b", -99, 39)}}, want: "b 30-; a 20-30 Released"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &history{}
			if tt.recorded != "" {
				h = resume(read(t, tt.recorded))
			}
			for _, s := range tt.steps {
				before := write(h.terms)
				changed := s.on(h)
				if after := write(h.terms); changed != (before != after) {
					t.Errorf("at %g: changed is %v, terms went from %q to %q", s.at, changed, before, after)
				}
			}
			if got := write(h.terms); got != tt.want {
				t.Errorf("terms are\n%s, want\n%s", got, tt.want)
			}
		})
	}
}

func TestHistoryKeepsTheLastTerms(t *testing.T) {
	h := &history{}
	for i := range 15 {
		h.observe(held(fmt.Sprint(i), float64(i), float64(i)), at(float64(i)))
	}
	if len(h.terms) != v1alpha1.MaxTerms || h.terms[0].Identity != "14" || h.terms[9].Identity != "5" {
		t.Errorf("terms are %s", write(h.terms))
	}
}

func TestHistoryDoesNotChangeWhatItGaveAway(t *testing.T) {
	h := &history{}
	h.observe(held("a", 0, 0), at(0))
	given := h.terms
	before := write(given)
	h.describe(&v1alpha1.Term{Holder: "pod-a", Identity: "a", Start: metav1.NewTime(at(0))})
	h.expire(at(20))
	h.observe(held("b", 21, 21), at(21))
	if diff := cmp.Diff(before, write(given)); diff != "" {
		t.Error(diff)
	}
	if given[0].Holder != "a" {
		t.Errorf("holder is %q", given[0].Holder)
	}
}

func TestHistoryDescribesOnlyTheTermThatWasMeant(t *testing.T) {
	h := &history{}
	h.observe(held("a", 0, 0), at(0))
	a := h.terms[0]
	h.observe(held("b", 1, 1), at(1))
	a.Holder = "pod-a"
	h.describe(&a)
	if h.terms[0].Holder != "b" || !h.fresh {
		t.Errorf("the term of b is %+v, fresh %v", h.terms[0], h.fresh)
	}
}

// Whoever writes a Lease may write such times, and a term with one could not be
// published.
func TestHistoryBeginsATermAtATimeThatCanBeWritten(t *testing.T) {
	for name, acquired := range map[string]time.Time{
		"zero":            {},
		"before the zero": time.Date(0, time.January, 1, 0, 0, 0, 0, time.UTC),
		"far ahead":       time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			lease := held("a", 0, 0)
			lease.Spec.AcquireTime = &metav1.MicroTime{Time: acquired}
			h := &history{}
			h.observe(lease, at(0))
			if got := write(h.terms); got != "a 0-" {
				t.Errorf("terms are %s", got)
			}
		})
	}
}
