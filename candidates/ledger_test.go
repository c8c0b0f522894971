package candidates

import (
	"fmt"
	"math"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	. "github.com/onsi/gomega"
)

func renewedAt(holder string, at time.Time) *coordinationv1.Lease {
	l := lease(holder)
	l.Spec.RenewTime = ptr(metav1.NewMicroTime(at))
	return l
}

func TestTermEnds(t *testing.T) {
	none := lease("h")
	none.Spec.RenewTime = nil
	short := lease("h")
	short.Spec.LeaseDurationSeconds = ptr(int32(0))
	tests := []struct {
		name  string
		lease *coordinationv1.Lease
		// seen is how long before now the record was first seen.
		seen time.Duration
		want time.Duration // after start; 0: no term
	}{
		{"just renewed", renewedAt("h", start), 0, 15 * time.Second},
		{"renewed a while ago", renewedAt("h", start.Add(-5*time.Second)), 0, 10 * time.Second},
		{"run out", renewedAt("h", start.Add(-15*time.Second)), 0, 0},
		{"clock hours behind", renewedAt("h", start.Add(-5*time.Hour)), 0, 0},
		{"clock hours ahead, first seen now", renewedAt("h", start.Add(5*time.Hour)), 0, 15 * time.Second},
		{"clock hours ahead, seen before", renewedAt("h", start.Add(5*time.Hour)), 10 * time.Second, 5 * time.Second},
		{"clock hours ahead, seen for a whole term", renewedAt("h", start.Add(5*time.Hour)), 15 * time.Second, 0},
		{"released", lease(""), 0, 0},
		{"absent", nil, 0, 0},
		{"no renewTime", none, 0, 0},
		{"no duration", short, 0, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l := newLedger()
			l.observe(webKey, tc.lease, start.Add(-tc.seen), true)
			m := l.observe(webKey, tc.lease, start, true)
			if tc.want == 0 {
				NewWithT(t).Expect(m.term).To(Equal(term{}))
				return
			}
			NewWithT(t).Expect(m.term).To(Equal(term{holder: "h", ends: start.Add(tc.want)}))
		})
	}
}

func TestHeldGoesByOurOwnClockOnceWeSawARenewal(t *testing.T) {
	g := NewWithT(t)
	hours := -5 * time.Hour
	r := recordOf(renewedAt("h", start.Add(hours)))
	g.Expect(r.held(start, true, start.Add(14*time.Second))).To(BeTrue(), "its clock is behind, but it renews")
	g.Expect(r.held(start, true, start.Add(15*time.Second))).To(BeFalse())
	g.Expect(r.held(start, false, start)).To(BeFalse(), "its renewTime is all there is")
}

func TestContestedSince(t *testing.T) {
	g := NewWithT(t)
	l := newLedger()
	vacant := lease("")
	try := func(lease *coordinationv1.Lease, after time.Duration) time.Time {
		now := start.Add(after)
		l.observe(webKey, lease, now, true)
		since, _ := l.attempted(webKey, "web-1", attempt{at: now, identity: "web-1_a"}, 15*time.Second, true)
		return since
	}
	g.Expect(try(vacant, 0)).To(BeTemporally("==", start))
	g.Expect(try(vacant, 5*time.Second)).To(BeTemporally("==", start), "the same vacancy")
	g.Expect(try(renewedAt("other", start.Add(6*time.Second)), 7*time.Second)).To(BeZero(), "somebody holds it")
	g.Expect(try(renewedAt("other", start.Add(6*time.Second)), 22*time.Second)).To(BeTemporally("==", start.Add(22*time.Second)), "the term ran out")
	g.Expect(try(renewedAt("other", start.Add(6*time.Second)), 25*time.Second)).To(BeTemporally("==", start.Add(22*time.Second)))
	g.Expect(try(nil, 30*time.Second)).To(BeTemporally("==", start.Add(30*time.Second)), "deleted")
	g.Expect(try(nil, 40*time.Second)).To(BeTemporally("==", start.Add(30*time.Second)))
	g.Expect(try(nil, 2*time.Minute)).To(BeTemporally("==", start.Add(2*time.Minute)), "nobody tried for long: it was held and deleted in between")
}

func TestTriesAreCountedInOneVacancy(t *testing.T) {
	g := NewWithT(t)
	l := newLedger()
	try := func(lease *coordinationv1.Lease, after time.Duration, keep bool) int {
		now := start.Add(after)
		l.observe(webKey, lease, now, true)
		_, tries := l.attempted(webKey, "web-1", attempt{at: now}, 15*time.Second, keep)
		return tries
	}
	remembered := func(lease *coordinationv1.Lease, after time.Duration) int {
		m := l.observe(webKey, lease, start.Add(after), true)
		last, _ := m.attempt("web-1")
		return last.count
	}
	vacant, held := lease(""), renewedAt("other", start.Add(6*time.Second))
	g.Expect(try(vacant, 0, true)).To(Equal(1))
	g.Expect(try(vacant, 2*time.Second, false)).To(Equal(2), "as if it were noted")
	g.Expect(try(vacant, 3*time.Second, true)).To(Equal(2))
	g.Expect(remembered(vacant, 4*time.Second)).To(Equal(2))
	g.Expect(try(held, 7*time.Second, true)).To(BeZero(), "somebody holds it")
	g.Expect(remembered(held, 8*time.Second)).To(BeZero())
	g.Expect(try(held, 22*time.Second, true)).To(Equal(1), "the term ran out")
	g.Expect(try(vacant, 23*time.Second, true)).To(Equal(1), "another vacancy")
}

func TestOlderLooksDoNotCount(t *testing.T) {
	g := NewWithT(t)
	l := newLedger()
	older, newer := lease(""), renewedAt("h", start)
	older.ResourceVersion, newer.ResourceVersion = "9", "10"
	l.observe(webKey, newer, start, true)
	m := l.observe(webKey, older, start.Add(time.Second), true)
	g.Expect(m.record.holder).To(Equal("h"))
	m = l.observe(webKey, older, start.Add(time.Second+maxLateness), true)
	g.Expect(m.record.holder).To(BeEmpty(), "no request is that late: the newer version was made up")
}

// Whoever may create Leases can try so at any time, also one that exists.
func TestCreatingProvesNothing(t *testing.T) {
	g := NewWithT(t)
	l := newLedger()
	l.asked(webKey, lease(""), start, true)
	since, _ := l.attempted(webKey, "web-1", attempt{at: start}, 15*time.Second, true)
	for after := time.Second; after < 10*time.Second; after += time.Second {
		l.asked(webKey, nil, start.Add(after), true)
		m := l.asked(webKey, lease(""), start.Add(after), true)
		g.Expect(m.since).To(BeTemporally("==", since), "the vacancy is the same one")
	}

	l.asked(webKey, renewedAt("h", start.Add(10*time.Second)), start.Add(11*time.Second), true)
	m := l.asked(webKey, nil, start.Add(12*time.Second), true)
	g.Expect(m.term.holder).To(Equal("h"), "it may have been deleted, and the term counts all the same")
	g.Expect(l.asked(webKey, nil, start.Add(25*time.Second), true).term).To(Equal(term{}))
}

func TestWithoutKeepNothingIsNoted(t *testing.T) {
	g := NewWithT(t)
	l := newLedger()
	l.observe(webKey, lease(""), start, false)
	l.attempted(webKey, "web-1", attempt{at: start}, time.Second, false)
	g.Expect(l.leases.Len()).To(BeZero())

	l.observe(webKey, lease(""), start, true)
	since, _ := l.attempted(webKey, "web-1", attempt{at: start.Add(time.Second)}, time.Second, false)
	g.Expect(since).To(BeTemporally("==", start.Add(time.Second)), "as if it were noted")
	m := l.observe(webKey, lease(""), start, true)
	g.Expect(m.since).To(BeZero())
	_, tried := m.attempt("web-1")
	g.Expect(tried).To(BeFalse())
}

func TestDeletedTerm(t *testing.T) {
	g := NewWithT(t)
	l := newLedger()
	l.deleted(webKey, renewedAt("h", start), start.Add(5*time.Second))
	m := l.observe(webKey, nil, start.Add(6*time.Second), true)
	g.Expect(m.term).To(Equal(term{holder: "h", ends: start.Add(15 * time.Second)}))
	g.Expect(l.observe(webKey, nil, start.Add(15*time.Second), true).term).To(Equal(term{}))

	l.deleted(webKey, renewedAt("h", start), start.Add(5*time.Second))
	l.observe(webKey, lease(""), start.Add(6*time.Second), true)
	g.Expect(l.observe(webKey, nil, start.Add(7*time.Second), true).term).To(Equal(term{}), "it was made anew since")

	forever := renewedAt("h", start)
	forever.Spec.LeaseDurationSeconds = ptr(int32(math.MaxInt32))
	l.deleted(webKey, forever, start.Add(time.Second))
	m = l.observe(webKey, nil, start.Add(time.Second), true)
	g.Expect(m.term.ends).To(Equal(start.Add(time.Second + maxDeletedTerm)))
}

func TestLedgerIsBounded(t *testing.T) {
	g := NewWithT(t)
	l := newLedger()
	for i := range 2 * maxAttempts {
		l.attempted(webKey, fmt.Sprint(i), attempt{at: start}, time.Second, true)
	}
	g.Expect(l.contest(webKey, false).attempts.Len()).To(Equal(maxAttempts))
	for i := range maxLeases + 10 {
		l.observe(types.NamespacedName{Namespace: "ns", Name: fmt.Sprint(i)}, nil, start, true)
	}
	g.Expect(l.leases.Len()).To(Equal(maxLeases))
}

func TestRegistrationName(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]string{}
	for _, identity := range []string{"vm-1_0f8b", "vm-1_0F8B", "VM/1", "___", "日本", "x", string(make([]byte, 600))} {
		name := registrationName(webKey, identity)
		g.Expect(name).To(MatchRegexp(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`))
		g.Expect(len(name)).To(BeNumerically("<=", 63))
		g.Expect(seen).NotTo(HaveKey(name))
		seen[name] = identity
	}
	g.Expect(registrationName(webKey, "vm-1")).To(Equal(registrationName(webKey, "vm-1")))
	g.Expect(registrationName(webKey, "vm-1")).NotTo(Equal(registrationName(types.NamespacedName{Namespace: "ns", Name: "other"}, "vm-1")))
}
