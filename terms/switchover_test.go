package terms

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// moment is one look at a Lease in the course of a switchover.
type moment struct {
	at     float64
	holder string
	// since is when its term began.
	since float64
	// ask replaces the request (nil: as before), withdraw takes it away, clear
	// does what the controller does once it is answered.
	ask             *v1alpha1.Switchover
	withdraw, clear bool
	pin             string
	paused, dryRun  bool
	coordinated     bool
	// gone says that b is not a candidate, unfit that it is not eligible.
	gone, unfit bool
	// want is the answer, "State: message". clears says that the request is
	// taken out of the spec.
	want   string
	clears bool
}

func TestSwitchover(t *testing.T) {
	toB := &v1alpha1.Switchover{To: "b"}
	clock := func(seconds float64) *metav1.Time { return &metav1.Time{Time: at(seconds)} }
	later := &v1alpha1.Switchover{To: "b", At: clock(60), Timeout: &metav1.Duration{Duration: 10 * time.Second}}
	waiting, acquiring := "InProgress: waiting for a to give the Lease up", "InProgress: waiting for b to acquire the Lease"
	for name, story := range map[string][]moment{
		"nobody asks": {{holder: "a", want: ""}},
		"it is done": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 2, holder: "", want: acquiring},
			{at: 3, holder: "b", want: "Done: b holds the Lease", clears: true},
			{at: 4, holder: "b", clear: true, want: "Done: b holds the Lease"},
			{at: 90, holder: "a", want: "Done: b holds the Lease"},
			{at: 91, holder: "a", ask: toB, want: waiting},
		},
		"b leads already": {{holder: "b", ask: toB, want: "Done: b held the Lease already", clears: true}},
		"it takes too long": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 119.9, holder: "a", want: waiting},
			{at: 120, holder: "a", want: "Failed: not done within 2m0s, waiting for a to give the Lease up", clears: true},
			{at: 121, holder: "a", want: "Failed: not done within 2m0s, waiting for a to give the Lease up", clears: true},
			{at: 122, holder: "a", clear: true, want: "Failed: not done within 2m0s, waiting for a to give the Lease up"},
		},
		"b goes away meanwhile": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 1, holder: "", gone: true, want: "Failed: b is not a candidate: there are a", clears: true},
		},
		"b is passed over": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 9, holder: "", unfit: true, want: "Failed: b is not eligible (PassedOver: was silent)", clears: true},
		},
		"another one acquires": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 1, holder: "", want: acquiring},
			{at: 20, holder: "c", since: 20, want: "Failed: b did not take the Lease, and c did", clears: true},
		},
		"the same one acquires again": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 20, holder: "a", since: 19, want: "Failed: b did not take the Lease, and a did", clears: true},
		},
		"the Lease belongs to others": {{holder: "a", ask: toB, coordinated: true, want: "Failed: the Lease is coordinated by another controller, which we leave alone", clears: true}},
		"nobody has that name":        {{holder: "a", ask: toB, gone: true, want: "Failed: b is not a candidate: there are a", clears: true}},
		"b is not eligible":           {{holder: "a", ask: toB, unfit: true, want: "Failed: b is not eligible (PassedOver: was silent)", clears: true}},
		"the policy only looks":       {{holder: "a", ask: toB, dryRun: true, want: "Failed: ElectionPolicy ns/p is in mode DryRun, which moves nothing", clears: true}},
		"it is paused":                {{holder: "a", ask: toB, paused: true, want: "Failed: the election is paused: resume it first", clears: true}},
		"it is pinned":                {{holder: "a", ask: toB, pin: "a", want: "Failed: the Lease is pinned to a: unpin it first", clears: true}},
		"it is pinned to b":           {{holder: "a", ask: toB, pin: "b", want: waiting}},
		"it is withdrawn": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 1, holder: "a", withdraw: true, want: "Failed: withdrawn before it was done"},
		},
		"it is withdrawn too late": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 1, holder: "b", withdraw: true, want: "Done: b holds the Lease"},
		},
		"another one is asked for": {
			{at: 0, holder: "a", ask: toB, want: waiting},
			{at: 1, holder: "a", ask: &v1alpha1.Switchover{To: "a"}, want: "Done: a held the Lease already", clears: true},
		},
		"it has a time": {
			{at: 0, holder: "a", ask: later, want: "Scheduled: begins at 2026-03-01T12:01:00Z"},
			{at: 59.9, holder: "c", gone: true, want: "Scheduled: begins at 2026-03-01T12:01:00Z"},
			{at: 60, holder: "a", want: waiting},
			{at: 69.9, holder: "a", want: waiting},
			{at: 70, holder: "a", want: "Failed: not done within 10s, waiting for a to give the Lease up", clears: true},
		},
		"it has a time, and comes back from Git": {
			{at: 0, holder: "a", ask: later, want: "Scheduled: begins at 2026-03-01T12:01:00Z"},
			{at: 60, holder: "a", want: waiting},
			{at: 61, holder: "b", want: "Done: b holds the Lease", clears: true},
			{at: 62, holder: "b", clear: true, want: "Done: b holds the Lease"},
			{at: 63, holder: "a", ask: later, want: "Done: b holds the Lease"},
			// Another request takes its place in the status.
			{at: 64, holder: "a", ask: &v1alpha1.Switchover{To: "a"}, want: "Done: a held the Lease already", clears: true},
			{at: 65, holder: "a", ask: later, want: "Failed: its time, 2026-03-01T12:01:00Z, is over: a switchover of that time, or a later one, has ended already", clears: true},
			{at: 66, holder: "a", ask: later, want: "Failed: its time, 2026-03-01T12:01:00Z, is over: a switchover of that time, or a later one, has ended already", clears: true},
			// A new one has a later time.
			{at: 67, holder: "a", ask: &v1alpha1.Switchover{To: "b", At: clock(80)}, want: "Scheduled: begins at 2026-03-01T12:01:20Z"},
			{at: 68, holder: "a", withdraw: true, want: "Failed: withdrawn before it was done"},
			{at: 69, holder: "a", ask: &v1alpha1.Switchover{To: "b", At: clock(70)}, want: "Scheduled: begins at 2026-03-01T12:01:10Z"},
			{at: 70, holder: "a", want: waiting},
		},
		"its time was long ago": {{at: 100, holder: "a", ask: later, want: "Failed: its time, 2026-03-01T12:01:00Z, passed by more than its timeout of 10s before it could begin", clears: true}},
	} {
		t.Run(name, func(t *testing.T) { play(t, story) })
	}
}

func play(t *testing.T, story []moment) {
	t.Helper()
	s := switchover{spec: &v1alpha1.ElectionSpec{}, policy: "ElectionPolicy ns/p"}
	for _, m := range story {
		s.take(&m)
		before := s.spec.Switchover.DeepCopy()
		answer := s.next()
		if got := text(answer); got != m.want {
			t.Fatalf("at %g: %q, want %q", m.at, got, m.want)
		}
		if got := clearsSwitchover(s.spec, s.generation, answer); got != m.clears {
			t.Fatalf("at %g: clears %v, want %v", m.at, got, m.clears)
		}
		if d := due(answer); !d.IsZero() && !d.After(s.now) {
			t.Fatalf("at %g: due at %s, which is over", m.at, d)
		}
		if answer != nil && before != nil && !answer.State.Ended() && !answer.Answers(before) {
			t.Fatalf("at %g: the answer is about another request: %+v", m.at, answer)
		}
		s.answer = answer
	}
}

func (s *switchover) take(m *moment) {
	was := *s.spec
	s.now, s.holder, s.mode = at(m.at), m.holder, v1alpha1.Enforce
	s.since, s.coordinated = at(m.since), m.coordinated
	if m.dryRun {
		s.mode = v1alpha1.DryRun
	}
	s.spec = &v1alpha1.ElectionSpec{Pin: m.pin, Paused: m.paused, Switchover: was.Switchover}
	if m.ask != nil {
		s.spec.Switchover = m.ask
	}
	if m.withdraw || m.clear {
		s.spec.Switchover = nil
	}
	if *s.spec != was {
		s.generation++
	}
	s.decision = &picker.Decision{Verdicts: []picker.Verdict{{Candidate: &picker.Candidate{Name: "a"}, Eligible: true}}}
	switch b := (picker.Verdict{Candidate: &picker.Candidate{Name: "b"}, Eligible: true}); {
	case m.unfit:
		b.Eligible, b.Filter, b.Reason = false, picker.FilterPassedOver, "was silent"
		fallthrough
	case !m.gone:
		s.decision.Verdicts = append(s.decision.Verdicts, b)
	}
}

func text(answer *v1alpha1.SwitchoverStatus) string {
	if answer == nil {
		return ""
	}
	return string(answer.State) + ": " + answer.Message
}

// What a person writes survives what we write, and the other way round.
func TestPublisherAnswersASwitchover(t *testing.T) {
	asked := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease", UID: "1", Generation: 1}}
	asked.Spec = v1alpha1.ElectionSpec{Pin: "a-1", Switchover: &v1alpha1.Switchover{To: "a-1"}}
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a-0", "v1.36.0"), podOf("a-1", "v1.37.0"))
		c.lease("lease", "a-0_1", time.Now())
		c.start()
		e := c.election("lease")
		answer := e.Status.Switchover
		if answer == nil || answer.State != v1alpha1.SwitchoverInProgress || answer.From != "a-0" || answer.Deadline.Sub(answer.Time.Time) < v1alpha1.DefaultSwitchoverTimeout {
			t.Fatalf("the answer is %+v", answer)
		}
		if e.Spec.Pin != "a-1" || e.Spec.Switchover == nil {
			t.Errorf("the spec became %+v", e.Spec)
		}
		c.lease("lease", "a-1_1", time.Now())
		c.pass(time.Second)
		e = c.election("lease")
		if e.Status.Switchover.State != v1alpha1.SwitchoverDone || e.Spec.Switchover != nil || e.Spec.Pin != "a-1" {
			t.Errorf("the spec is %+v, the answer %+v", e.Spec, e.Status.Switchover)
		}

		// Without a policy, only what we say goes.
		c.elections.use(podOf("a-0", "v1.36.0"))
		c.pass(time.Second)
		if e = c.election("lease"); e == nil || e.Spec.Pin != "a-1" || e.Status.Policy != "" || e.Status.Holder != nil {
			t.Errorf("without a policy the Election is %+v", e)
		}
	}, asked)
}

// One that nobody answers in time ends by time alone.
func TestPublisherEndsASwitchover(t *testing.T) {
	asked := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease", UID: "1", Generation: 1}}
	inBubble(t, func(t *testing.T, c *cluster) {
		soon := metav1.NewTime(time.Now().Add(time.Minute))
		asked.Spec.Switchover = &v1alpha1.Switchover{To: "a-1", At: &soon, Timeout: &metav1.Duration{Duration: 5 * time.Second}}
		c.must(c.Create(t.Context(), asked.DeepCopy()))
		c.elections.use(policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a-0", "v1.36.0"), podOf("a-1", "v1.37.0"))
		acquired := time.Now()
		c.lease("lease", "a-0_1", acquired)
		c.start()
		var states []string
		for range 70 {
			c.lease("lease", "a-0_1", acquired)
			if got := string(c.election("lease").Status.Switchover.State); len(states) == 0 || states[len(states)-1] != got {
				states = append(states, got)
			}
			c.pass(time.Second)
		}
		if got := strings.Join(states, " "); got != "Scheduled InProgress Failed" {
			t.Errorf("the states were %s", got)
		}
		if c.election("lease").Spec.Switchover != nil {
			t.Error("the request is still there")
		}
	})
}

func TestPinAndPauseConditions(t *testing.T) {
	for name, test := range map[string]struct {
		spec   v1alpha1.ElectionSpec
		dryRun bool
		want   string
	}{
		"nothing":               {want: ""},
		"a pin":                 {spec: v1alpha1.ElectionSpec{Pin: "new"}, want: "Pinned=True PinDecides: the Lease is held on new"},
		"a pin in dry run":      {spec: v1alpha1.ElectionSpec{Pin: "new"}, dryRun: true, want: "Pinned=False NotEnforced: the Lease would be held on new, but the mode is DryRun"},
		"a pin on a stranger":   {spec: v1alpha1.ElectionSpec{Pin: "x"}, want: "Pinned=False NoSuchCandidate: no candidate is named x: the strategy chooses until there is one"},
		"a pin on an unfit one": {spec: v1alpha1.ElectionSpec{Pin: "broken"}, want: "Pinned=False CandidateNotEligible: broken is not eligible (ValidVersion: "},
		"a pause and a pin": {spec: v1alpha1.ElectionSpec{Pin: "new", Paused: true},
			want: "Paused=True ByHand: spec.paused is set: any candidate may acquire the Lease, and nobody is made to step down; Pinned=False ElectionPaused: the election is paused, which comes before the pin"},
	} {
		t.Run(name, func(t *testing.T) {
			election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease"}, Spec: test.spec}
			s := look(t, 6, held("old_1", 0, 5), nil, policyOf("p", v1alpha1.OldestEmulationVersion), election,
				podOf("old", "v1.36.0"), podOf("new", "v1.37.0"), podOf("broken", "latest"))
			s.wanted, s.dryRun = wanted{spec: test.spec}, test.dryRun
			var got []string
			for _, c := range s.status().Conditions {
				if c.Type == v1alpha1.ConditionPaused || c.Type == v1alpha1.ConditionPinned {
					got = append(got, c.Type+"="+string(c.Status)+" "+c.Reason+": "+c.Message)
				}
			}
			if text := strings.Join(got, "; "); text != test.want && (test.want == "" || !strings.HasSuffix(test.want, ": ") || !strings.HasPrefix(text, test.want)) {
				t.Errorf("conditions are %q, want %q", text, test.want)
			}
		})
	}
}
