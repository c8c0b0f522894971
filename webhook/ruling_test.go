package webhook

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// oldest prefers the older emulation version.
type oldest struct{}

func (oldest) Name() string { return "OldestEmulationVersion" }
func (oldest) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	return picker.Oldest(c.EmulationVersion)
}

// noSpot removes the candidates on spot nodes.
type noSpot struct{}

func (noSpot) Name() string { return "NoSpot" }
func (noSpot) Filter(_ *picker.State, c *picker.Candidate) string {
	if strings.HasPrefix(c.Node, "spot") {
		return "runs on a spot node\n"
	}
	return ""
}

func testPolicy(edit ...func(*picker.Policy)) *picker.Policy {
	p := &picker.Policy{
		PolicyRef: picker.PolicyRef{Kind: "ElectionPolicy", Namespace: "kube-system", Name: "control-plane"},
		Mode:      v1alpha1.Enforce,
		Strategy:  v1alpha1.OldestEmulationVersion,
		Filters:   []picker.Filter{noSpot{}},
		Scores:    []picker.Score{oldest{}},
	}
	for _, e := range edit {
		e(p)
	}
	return p
}

func mode(m v1alpha1.Mode) func(*picker.Policy) { return func(p *picker.Policy) { p.Mode = m } }
func preempt(when v1alpha1.PreemptWhen) func(*picker.Policy) {
	return func(p *picker.Policy) { p.Preempt = when }
}
func firstCome(p *picker.Policy) { p.AnyEligible = true }

// testBallot has the candidates sched-a (1.36.3), sched-b (1.37.2), sched-c
// (1.36.3, younger) and sched-spot, and the claimant given.
func testBallot(claimant string, edit ...func(*candidates.Ballot)) *candidates.Ballot {
	b := &candidates.Ballot{Claimant: candidates.Identification{Candidate: claimant}}
	b.Policy, b.Spec = testPolicy(), &v1alpha1.ElectionPolicySpec{}
	b.State.Now = now
	b.State.Lease = picker.Lease{Namespace: "kube-system", Name: "kube-scheduler"}
	for i, c := range []struct{ name, version, node string }{
		{"sched-a", "v1.36.3", "node-1"}, {"sched-b", "v1.37.2", "node-2"}, {"sched-c", "v1.36.3", "node-3"}, {"sched-spot", "v1.35.0", "spot-1"},
	} {
		version := picker.ParseVersion(c.version)
		b.State.Candidates = append(b.State.Candidates, picker.Candidate{
			Name: c.name, Node: c.node, BinaryVersion: version, EmulationVersion: version, Created: now.Add(time.Duration(i) * time.Second),
		})
	}
	for _, e := range edit {
		e(b)
	}
	return b
}

func withPolicy(p *picker.Policy) func(*candidates.Ballot) {
	return func(b *candidates.Ballot) { b.Policy = p }
}

func withTerm(holder string, left time.Duration) func(*candidates.Ballot) {
	return func(b *candidates.Ballot) { b.TermHolder, b.TermEnds = holder, now.Add(left) }
}

func TestRule(t *testing.T) {
	unknown := func(b *candidates.Ballot) {
		b.Claimant = candidates.Identification{Problem: "is not a registered candidate"}
	}
	among := func(names ...string) func(*candidates.Ballot) {
		return func(b *candidates.Ballot) { b.Claimant = candidates.Identification{Among: names} }
	}
	byHand := func(intent picker.Intent) func(*candidates.Ballot) {
		return func(b *candidates.Ballot) { b.State.Intent = intent }
	}
	exempt := func(b *candidates.Ballot) { b.Exempt = true }
	better := withPolicy(testPolicy(preempt(v1alpha1.PreemptForBetter)))
	aIsGone := func(b *candidates.Ballot) {
		b.State.Candidates[0].Unavailable, b.State.Candidates[2].Unavailable = "Pod is terminating", "Pod has failed"
	}
	nobodyEligible := func(b *candidates.Ballot) {
		for i := range b.State.Candidates {
			b.State.Candidates[i].Unavailable = "Pod is terminating"
		}
	}
	for _, tc := range []struct {
		name       string
		transition Transition
		identity   string
		ballot     *candidates.Ballot
		dryRun     bool
		verdict    Verdict
		reason     Reason
		admits     bool
		message    string
	}{
		{name: "chosen", transition: Acquire, ballot: testBallot("sched-a"), verdict: Allow, reason: ReasonChosen, admits: true},
		{name: "not chosen", transition: Acquire, ballot: testBallot("sched-b"), verdict: Deny, reason: ReasonNotChosen,
			message: "lease kube-system/kube-scheduler: candidate sched-b is not chosen: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane"},
		{name: "not chosen on a tie", transition: Acquire, ballot: testBallot("sched-c"), verdict: Deny, reason: ReasonNotChosen,
			message: "lease kube-system/kube-scheduler: candidate sched-c is not chosen: sched-a is chosen by OldestCandidate under ElectionPolicy kube-system/control-plane"},
		{name: "not chosen, exempt", transition: Acquire, ballot: testBallot("sched-b", exempt), verdict: Allow, reason: ReasonExempt, admits: true},
		{name: "unregistered, exempt", transition: Takeover, ballot: testBallot("", unknown, exempt), verdict: Allow, reason: ReasonExempt, admits: true},
		{name: "filtered out", transition: Acquire, ballot: testBallot("sched-spot"), verdict: Deny, reason: ReasonNotEligible,
			message: `lease kube-system/kube-scheduler: candidate sched-spot is not eligible (NoSpot: runs on a spot node\n): sched-a is chosen by OldestCandidate under ElectionPolicy kube-system/control-plane`},
		{name: "nobody is eligible", transition: Acquire, ballot: testBallot("sched-a", nobodyEligible), verdict: Deny, reason: ReasonNotEligible,
			message: "lease kube-system/kube-scheduler: candidate sched-a is not eligible (Available: Pod is terminating): no candidate is eligible under ElectionPolicy kube-system/control-plane"},
		{name: "unregistered", transition: Acquire, identity: "x\n", ballot: testBallot("", unknown), verdict: Deny, reason: ReasonNotRegistered,
			message: `lease kube-system/kube-scheduler: holder identity "x\n" is not a registered candidate under ElectionPolicy kube-system/control-plane`},
		{name: "ambiguous, one may lead", transition: Acquire, ballot: testBallot("", among("sched-b", "sched-a")), verdict: Allow, reason: ReasonChosen, admits: true},
		{name: "ambiguous, none may lead", transition: Acquire, ballot: testBallot("", among("sched-b", "sched-c")), verdict: Deny, reason: ReasonNotChosen,
			message: "lease kube-system/kube-scheduler: candidate sched-b is not chosen: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane"},
		{name: "takeover after the term", transition: Takeover, ballot: testBallot("sched-a", withTerm("sched-b_1", -time.Millisecond)), verdict: Allow, reason: ReasonChosen, admits: true},
		{name: "takeover within the term", transition: Takeover, ballot: testBallot("sched-a", withTerm("sched-b_1", 3200*time.Millisecond)), verdict: Deny, reason: ReasonTermRunning,
			message: "lease kube-system/kube-scheduler: candidate sched-a is too early: the term of sched-b_1 runs for another 3.2s under ElectionPolicy kube-system/control-plane"},
		{name: "takeover from itself within the term", transition: Takeover, identity: "sched-a_2", ballot: testBallot("sched-a", withTerm("sched-a_1", time.Second)), verdict: Deny, reason: ReasonTermRunning,
			message: "lease kube-system/kube-scheduler: candidate sched-a is too early: the term of sched-a_1 runs for another 1s under ElectionPolicy kube-system/control-plane"},
		{name: "first come, but within the term", transition: Takeover, ballot: testBallot("sched-b", withPolicy(testPolicy(firstCome)), withTerm("sched-a_1", time.Second)), verdict: Deny, reason: ReasonTermRunning,
			message: "lease kube-system/kube-scheduler: candidate sched-b is too early: the term of sched-a_1 runs for another 1s under ElectionPolicy kube-system/control-plane"},
		{name: "made anew by another one", transition: Acquire, identity: "sched-a_1", ballot: testBallot("sched-a", withTerm("sched-b_1", time.Second)), verdict: Deny, reason: ReasonTermRunning,
			message: "lease kube-system/kube-scheduler: candidate sched-a is too early: the term of sched-b_1 runs for another 1s under ElectionPolicy kube-system/control-plane"},
		{name: "made anew by its holder", transition: Acquire, identity: "sched-a_1", ballot: testBallot("sched-a", withTerm("sched-a_1", time.Second)), verdict: Allow, reason: ReasonChosen, admits: true},
		{name: "renewal against an order", transition: Renew, ballot: testBallot("sched-b", better), verdict: Deny, reason: ReasonSteppedDown,
			message: "lease kube-system/kube-scheduler: candidate sched-b was told to step down: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane"},
		{name: "renewal against an order, by one that is filtered out", transition: Renew, ballot: testBallot("sched-spot", better), verdict: Deny, reason: ReasonSteppedDown,
			message: "lease kube-system/kube-scheduler: candidate sched-spot was told to step down: sched-a is chosen by OldestCandidate under ElectionPolicy kube-system/control-plane"},
		{name: "renewal against an order by hand", transition: Renew, ballot: testBallot("sched-a", byHand(picker.Intent{SwitchoverTo: "sched-b"})), verdict: Deny, reason: ReasonSteppedDown,
			message: "lease kube-system/kube-scheduler: candidate sched-a was told to step down: sched-b is chosen by Switchover under ElectionPolicy kube-system/control-plane"},
		{name: "renewal of a stranger against an order by hand", transition: Renew, identity: "x\n", ballot: testBallot("", unknown, byHand(picker.Intent{PinnedTo: "sched-b"})), verdict: Deny, reason: ReasonSteppedDown,
			message: `lease kube-system/kube-scheduler: holder "x\n" was told to step down: sched-b is chosen by Pinned under ElectionPolicy kube-system/control-plane`},
		{name: "renewal by one that may be the chosen one", transition: Renew, ballot: testBallot("", among("sched-c", "sched-b"), byHand(picker.Intent{PinnedTo: "sched-b"})), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal without a replacement", transition: Renew, ballot: testBallot("sched-b", better, aIsGone), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal while nobody is eligible", transition: Renew, ballot: testBallot("sched-b", better, nobodyEligible), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal by the chosen one", transition: Renew, ballot: testBallot("sched-a", better), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal by one that is just younger", transition: Renew, ballot: testBallot("sched-c", better), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal under a policy that preempts nobody", transition: Renew, ballot: testBallot("sched-b"), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal while paused", transition: Renew, ballot: testBallot("sched-b", better, byHand(picker.Intent{Paused: true})), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal of a stranger", transition: Renew, ballot: testBallot("", unknown, better), verdict: Allow, reason: ReasonNoReplacement, admits: true},
		{name: "renewal against an order, in dry-run", transition: Renew, ballot: testBallot("sched-b", better), dryRun: true, verdict: Deny, reason: ReasonSteppedDown, admits: true,
			message: "lease kube-system/kube-scheduler: candidate sched-b was told to step down: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane"},
		{name: "first come", transition: Acquire, ballot: testBallot("sched-b", withPolicy(testPolicy(firstCome))), verdict: Allow, reason: ReasonAnyEligible, admits: true},
		{name: "first come, filtered out", transition: Acquire, ballot: testBallot("sched-spot", withPolicy(testPolicy(firstCome))), verdict: Deny, reason: ReasonNotEligible,
			message: `lease kube-system/kube-scheduler: candidate sched-spot is not eligible (NoSpot: runs on a spot node\n): any eligible candidate may lead under ElectionPolicy kube-system/control-plane`},
		{name: "dry-run policy", transition: Acquire, ballot: testBallot("sched-b", withPolicy(testPolicy(mode(v1alpha1.DryRun)))), verdict: Deny, reason: ReasonNotChosen, admits: true,
			message: "lease kube-system/kube-scheduler: candidate sched-b is not chosen: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane"},
		{name: "dry-run for all", transition: Acquire, identity: "x\n", ballot: testBallot("", unknown), dryRun: true, verdict: Deny, reason: ReasonNotRegistered, admits: true,
			message: `lease kube-system/kube-scheduler: holder identity "x\n" is not a registered candidate under ElectionPolicy kube-system/control-plane`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Rule(tc.transition, tc.identity, tc.ballot, tc.dryRun)
			if r.Verdict != tc.verdict || r.Reason != tc.reason {
				t.Errorf("got %s %s, want %s %s", r.Verdict, r.Reason, tc.verdict, tc.reason)
			}
			if r.Admits() != tc.admits {
				t.Errorf("admits: got %t, want %t", r.Admits(), tc.admits)
			}
			if r.Message != tc.message {
				t.Errorf("message:\n got %s\nwant %s", r.Message, tc.message)
			}
			if tc.dryRun && r.Mode != v1alpha1.DryRun {
				t.Errorf("mode: got %s", r.Mode)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	long := strings.Repeat("a", 300)
	for in, want := range map[string]string{
		"sched-a_0f.b:1/x@y": "sched-a_0f.b:1/x@y",
		"":                   `""`,
		"a b":                `"a b"`,
		"a\nb\x1b[31m\x00":   `"a\nb\x1b[31m\x00"`,
		"\u202eevil":         `"\u202eevil"`,
		"\xff":               `"\xff"`,
		`"`:                  `"\""`,
		long:                 long[:maxQuoted] + "...",
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q): got %s, want %s", in, got, want)
		}
	}
}

// FuzzQuote checks that nothing but printable ASCII of a bounded length comes
// out, whatever goes in.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "sched-a", "a\nb", "\u202e", "\xff\xfe", strings.Repeat("é", 100), strings.Repeat(`\"`, 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{quote(s), phrase(s)} {
			if bad := strings.IndexFunc(got, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }); bad >= 0 {
				t.Errorf("%q has an unprintable character at %d", got, bad)
			}
			if limit := 10*4*maxQuoted + len(`""...`); len(got) > limit {
				t.Errorf("%d bytes for %d", len(got), len(s))
			}
		}
	})
}
