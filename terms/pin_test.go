package terms

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// pinLook is one look at a Lease that is pinned to "new".
type pinLook struct {
	at float64
	// holder holds the Lease since then; "" is nobody.
	holder string
	since  float64
	// gone says that the Pod of "new" is not there, silent that it is passed over
	// since it does not try, while "old" does.
	gone, silent bool
	// suspended says that the pin does not decide, until how many minutes from
	// the look on, after how many failures.
	suspended float64
	failures  int32
}

func TestPinThatIsNotTaken(t *testing.T) {
	for name, looks := range map[string][]pinLook{
		"it is taken": {
			{at: 10, holder: "old", since: 0},
			{at: 20, holder: ""},
			{at: 21, holder: "new", since: 21},
		},
		"another one has to lead, again and again": {
			{at: 10, holder: "old", since: 0},
			{at: 20, holder: ""},
			{at: 40, holder: "old", since: 40, suspended: 5, failures: 1},
			{at: 41, holder: "old", since: 40, suspended: 5 - 1./60, failures: 1},
			{at: 340, holder: "old", since: 40, failures: 1},
			{at: 380, holder: "old", since: 380, suspended: 10, failures: 2},
			{at: 980, holder: "old", since: 380, failures: 2},
			{at: 990, holder: "new", since: 990},
			{at: 1000, holder: "old", since: 1000, suspended: 5, failures: 1},
		},
		"it was seen to be passed over": {
			{at: 10, holder: "old", since: 0},
			{at: 20, holder: ""},
			{at: 39, holder: "", silent: true},
			{at: 40, holder: "old", since: 40, suspended: 5, failures: 1},
			{at: 350, holder: "old", since: 40, failures: 1},
			{at: 370, holder: "", failures: 1},
			{at: 390, holder: "", silent: true, failures: 1},
			{at: 391, holder: "new", since: 391},
		},
		"it is not there": {
			{at: 10, holder: "old", since: 0},
			{at: 40, holder: "old", since: 40, gone: true},
			{at: 50, holder: "old", since: 40},
		},
	} {
		t.Run(name, func(t *testing.T) {
			previous := &v1alpha1.ElectionStatus{}
			for _, l := range looks {
				status := l.look(t, previous)
				pin := status.Pin
				if got := pin.Suspends("new", at(l.at)); got != (l.suspended > 0) || pin.Failures != l.failures {
					t.Fatalf("at %g: suspended %v after %d failures: %+v", l.at, got, pin.Failures, pin)
				}
				if l.suspended > 0 && pin.RetryAfter.Sub(at(l.at)).Minutes() != l.suspended {
					t.Errorf("at %g: suspended for %s", l.at, pin.RetryAfter.Sub(at(l.at)))
				}
				if end := retries(pin); !end.IsZero() && l.suspended > 0 && !end.After(at(l.at)) {
					t.Errorf("at %g: due at %s", l.at, end)
				}
				previous = &status
			}
		})
	}
}

func (l *pinLook) look(t *testing.T, previous *v1alpha1.ElectionStatus) v1alpha1.ElectionStatus {
	t.Helper()
	election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease"}}
	election.Spec.Pin, election.Status = "new", *previous
	set := candidates.NewObjectSet()
	set.Add(policyOf("p", v1alpha1.OldestEmulationVersion))
	set.Add(election)
	set.Add(podOf("old", "v1.36.0"))
	if !l.gone {
		set.Add(podOf("new", "v1.37.0"))
	}
	lease := held(l.holder, l.since, l.at)
	view := candidates.Assemble(set, set.Governing(leaseKey), leaseKey, lease, at(l.at))
	if l.silent {
		view.State.Lease.ContestedSince = at(l.at - 60)
		old := slices.IndexFunc(view.State.Candidates, func(c picker.Candidate) bool { return c.Name == "old" })
		view.State.Candidates[old].LastAttempt = at(l.at)
	}
	decision := picker.Decide(view.Policy, &view.State)
	s := &sighting{view: view, decision: &decision, lease: lease, previous: previous, now: at(l.at), wanted: wanted{spec: election.Spec}}
	if l.holder != "" {
		s.terms = []v1alpha1.Term{{Holder: l.holder, Identity: l.holder, Start: metav1.NewTime(at(l.since))}}
	}
	return s.status()
}
