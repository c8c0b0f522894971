package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// at is a moment, in seconds after the first.
func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// script is what happens to a Lease: its steps are played in order.
type step struct {
	at     float64
	holder string
	// what is "write" if empty, or "create", "delete", "blind".
	what string
	// acquired is the acquireTime, if it is another one than the time.
	acquired float64
}

func play(t *testing.T, end float64, steps []step) *History {
	t.Helper()
	h := &History{}
	for _, s := range steps {
		switch s.what {
		case "delete":
			h.Delete(at(s.at))
			continue
		case "blind":
			h.Blind(at(s.at))
			continue
		}
		w := Write{Time: at(s.at), Holder: s.holder, Duration: 15 * time.Second, Renew: at(s.at), Acquire: at(s.at), Create: s.what == "create"}
		if s.acquired != 0 {
			w.Acquire = at(s.acquired)
		}
		h.Write(w)
	}
	h.Finish(at(end))
	return h
}

// line is a term as the tests write it.
type line struct {
	Holder     string
	Start, End float64
	Reason     string
	Renewed    float64
	Renewals   int64
	Earlier    bool
	Lapses     int
}

func lines(h *History) []line {
	var all []line
	for i := range h.Terms {
		term := &h.Terms[i]
		l := line{
			Holder: term.Identity, Start: term.Start.Sub(start).Seconds(), Reason: term.Reason,
			Renewed: term.Renewed.Sub(start).Seconds(), Renewals: term.Renewals, Earlier: term.Earlier, Lapses: len(term.Lapses),
		}
		if !term.End.IsZero() {
			l.End = term.End.Sub(start).Seconds()
		}
		all = append(all, l)
	}
	return all
}

func TestTerms(t *testing.T) {
	for name, test := range map[string]struct {
		steps   []step
		end     float64
		want    []line
		changes int
		vacant  float64
		longest float64
	}{
		"released, and acquired by the next": {
			steps: []step{{0, "a", "create", 0}, {2, "a", "", -1}, {4, "", "", 0}, {5, "b", "", 0}, {7, "b", "", 5}},
			end:   8,
			want: []line{
				{Holder: "a", Start: 0, End: 4, Reason: v1alpha1.TermReleased, Renewed: 2, Renewals: 1},
				{Holder: "b", Start: 5, Renewed: 7, Renewals: 1},
			},
			changes: 1, vacant: 1, longest: 1,
		},
		"expired: nobody is known to have led since the last renewal": {
			steps: []step{{0, "a", "create", 0}, {2, "a", "", -1}, {19, "b", "", 0}},
			end:   20,
			want: []line{
				{Holder: "a", Start: 0, End: 17, Reason: v1alpha1.TermExpired, Renewed: 2, Renewals: 1},
				{Holder: "b", Start: 19, Renewed: 19},
			},
			changes: 1, vacant: 17, longest: 17,
		},
		"expired by the clock of a candidate that is a little ahead": {
			steps: []step{{0, "a", "create", 0}, {14.5, "b", "", 0}},
			end:   15,
			want: []line{
				{Holder: "a", Start: 0, End: 14.5, Reason: v1alpha1.TermExpired, Renewed: 0},
				{Holder: "b", Start: 14.5, Renewed: 14.5},
			},
			changes: 1, vacant: 14.5, longest: 14.5,
		},
		"taken over": {
			steps: []step{{0, "a", "create", 0}, {3, "b", "", 0}},
			end:   4,
			want: []line{
				{Holder: "a", Start: 0, End: 3, Reason: v1alpha1.TermTakenOver, Renewed: 0},
				{Holder: "b", Start: 3, Renewed: 3},
			},
			changes: 1,
		},
		"deleted, and made anew by the same": {
			steps: []step{{0, "a", "create", 0}, {3, "", "delete", 0}, {5, "a", "create", 0}},
			end:   6,
			want: []line{
				{Holder: "a", Start: 0, End: 3, Reason: v1alpha1.TermDeleted, Renewed: 0},
				{Holder: "a", Start: 5, Renewed: 5},
			},
			vacant: 2, longest: 2,
		},
		"deleted where the log does not show it": {
			steps: []step{{0, "a", "create", 0}, {5, "b", "create", 0}},
			end:   6,
			want: []line{
				{Holder: "a", Start: 0, End: 5, Reason: v1alpha1.TermDeleted, Renewed: 0},
				{Holder: "b", Start: 5, Renewed: 5},
			},
			changes: 1,
		},
		"the log begins in a term": {
			steps: []step{{0, "a", "", -3600}, {2, "a", "", -3600}},
			end:   3,
			want:  []line{{Holder: "a", Start: -3600, Renewed: 2, Renewals: 1, Earlier: true}},
		},
		"the log begins with an acquire": {
			steps: []step{{0, "a", "", 0}},
			end:   3,
			want:  []line{{Holder: "a", Start: 0, Renewed: 0}},
		},
		"the log begins with a vacant Lease": {
			steps: []step{{0, "", "", 0}, {9, "a", "", 0}},
			end:   10,
			want:  []line{{Holder: "a", Start: 9, Renewed: 9}},
		},
		"a holder that stood still goes on": {
			steps:  []step{{0, "a", "create", 0}, {30, "a", "", -1}, {32, "a", "", -1}},
			end:    33,
			want:   []line{{Holder: "a", Start: 0, Renewed: 32, Renewals: 2, Lapses: 1}},
			vacant: 30, longest: 30,
		},
		"the last term runs out before the log ends": {
			steps:  []step{{0, "a", "create", 0}},
			end:    60,
			want:   []line{{Holder: "a", Start: 0, End: 15, Reason: v1alpha1.TermExpired, Renewed: 0}},
			vacant: 60, longest: 60,
		},
		"the log ends with a vacant Lease": {
			steps:  []step{{0, "a", "create", 0}, {3, "", "", 0}, {4, "", "", 0}},
			end:    10,
			want:   []line{{Holder: "a", Start: 0, End: 3, Reason: v1alpha1.TermReleased, Renewed: 0}},
			vacant: 7, longest: 7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := play(t, test.end, test.steps)
			if diff := cmp.Diff(test.want, lines(h)); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
			if h.Changes != test.changes || h.Vacant.Seconds() != test.vacant || h.Longest.Seconds() != test.longest {
				t.Errorf("%d changes, %v vacant, %v the longest; want %d, %vs, %vs", h.Changes, h.Vacant, h.Longest, test.changes, test.vacant, test.longest)
			}
		})
	}
}

func TestTermsAreBounded(t *testing.T) {
	h := &History{}
	for i := range MaxTerms + 10 {
		h.Write(Write{Time: at(float64(i)), Holder: string(rune('a' + i%2)), Duration: time.Second, Create: true})
	}
	h.Finish(at(MaxTerms + 10))
	if len(h.Terms) != MaxTerms || h.Total != MaxTerms+10 {
		t.Errorf("%d terms of %d are kept, want %d of %d", len(h.Terms), h.Total, MaxTerms, MaxTerms+10)
	}
}

func TestEvery(t *testing.T) {
	h := play(t, 50, []step{{0, "a", "", -100}, {2, "a", "", -100}, {4, "a", "", -100}, {44, "a", "", -100}, {46, "a", "", -100}})
	// The stand-still from 4 to 44 says nothing.
	if got := h.Current().Every(); got != 2*time.Second {
		t.Errorf("renewed every %v, want 2s", got)
	}
}

func TestTimeWithWritesThatCannotBeReadIsNotKnown(t *testing.T) {
	for name, test := range map[string]struct {
		steps           []step
		vacant, unknown float64
		// terms are those after which it is not known who led.
		terms []bool
	}{
		"after a release":        {[]step{{at: 0, holder: "a"}, {at: 5}, {at: 6, what: "blind"}, {at: 25, holder: "b"}}, 0, 20, []bool{true, false}},
		"before the end":         {[]step{{at: 0, holder: "a"}, {at: 5, what: "blind"}, {at: 6}, {at: 25, holder: "b"}}, 19, 0, []bool{false, false}},
		"after the last renewal": {[]step{{at: 0, holder: "a"}, {at: 5, what: "blind"}, {at: 25, holder: "b"}}, 0, 25, []bool{true, false}},
		"the same goes on":       {[]step{{at: 0, holder: "a"}, {at: 5, what: "blind"}, {at: 25, holder: "a"}}, 0, 25, []bool{false}},
		"until the log ends":     {[]step{{at: 0, holder: "a"}, {at: 5, what: "blind"}}, 0, 30, []bool{true}},
		"before the first term":  {[]step{{at: 2, what: "blind"}, {at: 25, holder: "a"}}, 0, 23, []bool{false}},
		"nothing else":           {[]step{{at: 2, what: "blind"}, {at: 25, what: "blind"}}, 0, 28, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := play(t, 30, test.steps)
			var terms []bool
			for i := range h.Terms {
				terms = append(terms, h.Terms[i].Unknown())
			}
			if h.Vacant.Seconds() != test.vacant || h.Unknown.Seconds() != test.unknown {
				t.Errorf("vacant for %v, not known for %v", h.Vacant, h.Unknown)
			}
			if diff := cmp.Diff(test.terms, terms); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A Lease that is released again, or written while nobody holds it, has no term
// that could lapse.
func TestVacantLeaseIsNotRenewed(t *testing.T) {
	var h History
	h.Write(Write{Time: at(0), Holder: "a", Duration: 15 * time.Second, Create: true})
	h.Write(Write{Time: at(10)})
	h.Renew(at(60))
	h.Renew(at(120))
	h.Finish(at(200))
	if h.Vacant != 190*time.Second || h.Vacancies != 1 || len(h.Terms) != 1 || h.Terms[0].Renewals != 0 || len(h.Terms[0].Lapses) != 0 {
		t.Errorf("vacant for %s, %d times, terms %+v", h.Vacant, h.Vacancies, h.Terms)
	}
}
