package webhook

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// vacant is the Lease after that many changes of its holder.
func vacant(transitions int32) *coordinationv1.Lease {
	lease := testLease("", 1)
	lease.Spec.LeaseTransitions = ptr.To(transitions)
	return lease
}

func (f *fixture) acquire(t *testing.T, old *coordinationv1.Lease, identity string, edit ...func(*admissionv1.AdmissionRequest)) {
	t.Helper()
	op := admissionv1.Update
	if old == nil {
		op = admissionv1.Create
	}
	r := review(op, old, testLease(identity, 1))
	for _, e := range edit {
		e(r.Request)
	}
	f.post(t, ValidateLeasePath, r)
}

func playedThrough(r *admissionv1.AdmissionRequest) { r.DryRun = ptr.To(true) }

func TestSkewPreventionsCountVacancies(t *testing.T) {
	f := newFixture(t)
	count := func() float64 {
		return testutil.ToFloat64(f.leases.Metrics.skews.WithLabelValues("kube-system", "kube-scheduler"))
	}
	for _, tc := range []struct {
		name    string
		attempt func()
		want    float64
	}{
		{"one of the same version", func() { f.acquire(t, vacant(1), "sched-c_1") }, 0},
		{"only played through", func() { f.acquire(t, vacant(1), "sched-b_1", playedThrough) }, 0},
		{"a Lease that may be made up", func() { f.acquire(t, nil, "sched-b_1") }, 0},
		{"a newer version", func() { f.acquire(t, vacant(1), "sched-b_1") }, 1},
		{"the same vacancy", func() { f.acquire(t, vacant(1), "sched-b_1") }, 1},
		{"the next one", func() { f.acquire(t, vacant(2), "sched-b_1") }, 2},
	} {
		if tc.attempt(); count() != tc.want {
			t.Errorf("%s: counted %v, want %v", tc.name, count(), tc.want)
		}
	}
	f.ballot = byHostname(withPolicy(testPolicy(mode(v1alpha1.DryRun))))
	if f.acquire(t, vacant(3), "sched-b_1"); count() != 2 {
		t.Error("a dry-run prevents nothing")
	}
	f.ballot = byHostname(func(b *candidates.Ballot) { b.State.Intent.PinnedTo = "sched-a" })
	if f.acquire(t, vacant(4), "sched-b_1"); count() != 2 {
		t.Error("it was a person who decided")
	}
}

func TestPassedOverCandidatesAreCounted(t *testing.T) {
	overdue := func(b *candidates.Ballot) {
		b.State.Lease.ContestedSince, b.State.Lease.Duration = now.Add(-time.Minute), 15*time.Second
		b.State.Candidates[1].LastAttempt = now
		b.State.Candidates[2].Unavailable = "Pod is terminating"
	}
	f := newFixture(t, overdue)
	for _, tc := range []struct {
		name    string
		attempt func()
		want    float64
	}{
		{"a refusal", func() { f.acquire(t, vacant(1), "sched-a_1") }, 0},
		{"only played through", func() { f.acquire(t, vacant(1), "sched-b_1", playedThrough) }, 0},
		{"without those on a and on the spot node", func() { f.acquire(t, vacant(1), "sched-b_1") }, 2},
	} {
		tc.attempt()
		if got := testutil.ToFloat64(f.leases.Metrics.passedOver.WithLabelValues("kube-system", "kube-scheduler")); got != tc.want {
			t.Errorf("%s: counted %v, want %v", tc.name, got, tc.want)
		}
	}
}

// What is counted of Leases goes with them.
func TestForget(t *testing.T) {
	f := newFixture(t)
	m := f.leases.Metrics
	exists := true
	series := func() int {
		m.Forget(func(key types.NamespacedName) bool { return exists && key.Name == "kube-scheduler" })
		return testutil.CollectAndCount(m.rulings) + testutil.CollectAndCount(m.skews)
	}
	f.acquire(t, vacant(1), "sched-b_1")
	f.acquire(t, nil, "sched-b_1")
	expect := func(when string, want int) {
		t.Helper()
		if got := series(); got != want {
			t.Errorf("%s there are %d series, want %d", when, got, want)
		}
	}
	expect("at the first look", 3)
	f.acquire(t, nil, "sched-b_1")
	expect("after an attempt to create one", 3)
	expect("after a quiet time", 2)
	exists = false
	expect("when the Lease was just deleted", 2)
	f.acquire(t, vacant(1), "sched-b_1")
	expect("when it was ruled on again", 2)
	expect("when it is gone", 0)
	f.acquire(t, vacant(1), "sched-b_1")
	expect("when it is back", 2)
}

// The name of a Lease that a request only plays through may be made up.
func TestMadeUpNamesAreNoLabels(t *testing.T) {
	f := newFixture(t, withPolicy(testPolicy(mode(v1alpha1.DryRun))))
	f.acquire(t, nil, "sched-b_1", playedThrough)
	rulings := f.leases.Metrics.rulings
	if got := testutil.ToFloat64(rulings.WithLabelValues("kube-system", "", "Acquire", "Deny", "NotChosen", "DryRun")); got != 1 {
		t.Errorf("counted %v, want 1", got)
	}
	if got := testutil.CollectAndCount(rulings); got != 1 {
		t.Errorf("there are %d series, want 1", got)
	}
}
