package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/picker"
)

// election is one that three candidates stand in; change makes it special.
func election(change func(*Election)) Election {
	chosen := "a"
	e := Election{
		Lease: "ns/lease", Policy: "ElectionPolicy/p", Strategy: "Custom", Mode: "Enforce",
		Chosen: &chosen, Criterion: "Priority", Criteria: []string{"Priority"},
		Candidates: []Candidate{
			{Name: "a", Source: picker.SourcePod, Eligible: true, Scores: Scores{{"Priority", picker.Integer(2)}}},
			{Name: "b", Source: picker.SourcePod, Eligible: true, Scores: Scores{{"Priority", picker.Value{}}}},
			{Name: "c", Source: picker.SourcePod, Reason: "Pod is terminating"},
		},
	}
	change(&e)
	return e
}

func table(t *testing.T, style Style, elections ...Election) string {
	t.Helper()
	var b strings.Builder
	if err := Table(&b, elections, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTable(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	name := "b"
	for title, test := range map[string]struct {
		style  Style
		change func(*Election)
		want   string
	}{
		"a score decides": {
			change: func(e *Election) { e.Holder = &Holder{Name: &name, Identity: "b_1"} },
			want: `Lease ns/lease, held by b
ElectionPolicy/p, strategy Custom, mode Enforce

CANDIDATE  VERDICT   PRIORITY*
a          chosen    2*
b          eligible  -
c          no: Pod is terminating

* Priority decided: 2 is preferred to - of b.
`,
		},
		"colours": {
			style:  Style{Color: true},
			change: func(*Election) {},
			want: "\x1b[1mLease ns/lease, vacant\x1b[0m\n" +
				"ElectionPolicy/p, strategy Custom, mode Enforce\n\n" +
				"\x1b[1mCANDIDATE  VERDICT   PRIORITY*\x1b[0m\n" +
				"\x1b[32ma          chosen    2*\x1b[0m\n" +
				"b          eligible  -\n" +
				"\x1b[2mc          no: Pod is terminating\x1b[0m\n\n" +
				"* Priority decided: 2 is preferred to - of b.\n",
		},
		"the age decides": {
			change: func(e *Election) {
				e.Criterion, e.Criteria = picker.CriterionOldest, nil
				e.Candidates[0].created, e.Candidates[1].created = day(1), day(2)
			},
			want: `Lease ns/lease, vacant
ElectionPolicy/p, strategy Custom, mode Enforce

CANDIDATE  VERDICT
a          chosen
b          eligible
c          no: Pod is terminating

No criterion tells a and b apart: the older one is preferred (created
2026-01-01T00:00:00Z and 2026-01-02T00:00:00Z).
`,
		},
		"the name decides": {
			change: func(e *Election) {
				e.Criterion, e.Criteria, e.Candidates = picker.CriterionOldest, nil, e.Candidates[:2]
			},
			want: `Lease ns/lease, vacant
ElectionPolicy/p, strategy Custom, mode Enforce

CANDIDATE  VERDICT
a          chosen
b          eligible

No criterion tells a and b apart, and they are of the same age: the name that
comes first is preferred.
`,
		},
		"a person decides": {
			change: func(e *Election) { e.Criterion = picker.CriterionPinned },
			want: `Lease ns/lease, vacant
ElectionPolicy/p, strategy Custom, mode Enforce

CANDIDATE  VERDICT   PRIORITY
a          chosen    2
b          eligible  -
c          no: Pod is terminating

The Lease is pinned to a.
`,
		},
		"long reasons are wrapped, and facts shown where there are some": {
			style: Style{Width: 60},
			change: func(e *Election) {
				e.LastResort, e.Overruled = true, []string{"ClusterElectionPolicy/q"}
				e.Criterion, e.Chosen = "", nil
				e.Candidates = e.Candidates[2:]
				c := &e.Candidates[0]
				c.Source, c.Version, c.EmulationVersion = picker.SourceCandidate, "v2", "v1"
				c.Node = "ip-10-0-12-231.eu-central-1.compute.internal"
				c.Reason = "registration has expired a long time ago"
			},
			want: `Lease ns/lease, vacant
ElectionPolicy/p, strategy Custom, mode Enforce

CANDIDATE  SOURCE     NODE            VERSION  EMULATES  VERDICT  PRIORITY
c          Candidate  ip-10-0-12-231  v2       v1        no: registration
                                                         has expired a
                                                         long time ago

No candidate is eligible.
The policy's filters left nobody within the acquire
deadline: as a last resort, they were passed over.
ClusterElectionPolicy/q selects this Lease, too, and is
overruled.
`,
		},
		"nothing is a command to the terminal": {
			change: func(e *Election) {
				e.Holder = &Holder{Identity: "\x1b[2J"}
				e.Candidates, e.Criterion = e.Candidates[:1], picker.CriterionOnlyCandidate
				e.Candidates[0].Name = "a\x1b]0;\a\u009b"
			},
			want: `Lease ns/lease, held by ?[2J, which is not a candidate
ElectionPolicy/p, strategy Custom, mode Enforce

CANDIDATE  VERDICT   PRIORITY
a?]0;??    eligible  2

a?]0;?? is the only eligible candidate.
`,
		},
	} {
		t.Run(title, func(t *testing.T) {
			if diff := cmp.Diff(test.want, table(t, test.style, election(test.change))); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCriterionTitle(t *testing.T) {
	for name, want := range map[string][]string{
		"Priority":               {"PRIORITY"},
		"OldestEmulationVersion": {"OLDEST", "EMULATION", "VERSION"},
		"RolloutAware":           {"ROLLOUT", "AWARE"},
		"scores[0].cel":          {"scores[0]", ".cel"},
		"scores[1].Priority":     {"scores[1]", ".Priority"},
		"":                       {""},
	} {
		if diff := cmp.Diff(want, criterionTitle(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
