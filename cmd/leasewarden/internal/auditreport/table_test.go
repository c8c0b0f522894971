package auditreport

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/audit"
)

func TestTablesOfTheRecordedLogFit80Columns(t *testing.T) {
	for line := range strings.Lines(table(t, recorded(t), Style{})) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

func TestNothingInATableIsACommand(t *testing.T) {
	was := terms(2, hostile)
	was[0].Version = hostile
	r := madeUp(was, terms(1, hostile))
	r.Leases[0].Lease, r.Leases[0].Notes = hostile, []string{hostile}
	out := table(t, r, Style{})
	if strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("the table has a control character:\n%q", out)
	}
}

func TestLongListsAreCut(t *testing.T) {
	r := madeUp(terms(50, "a"), nil)
	short, all := table(t, r, Style{}), table(t, r, Style{All: true})
	if !strings.Contains(short, "and 30 earlier terms; -v lists them") || strings.Count(short, "Released") != maxRows {
		t.Errorf("the table is not cut:\n%s", short)
	}
	if strings.Contains(all, "-v") || strings.Count(all, "Released") != 50 {
		t.Errorf("the table is cut:\n%s", all)
	}
}

func TestTheSameCourseIsNotShownTwice(t *testing.T) {
	out := table(t, madeUp(terms(2, "a"), terms(2, "a")), Style{})
	if strings.Contains(out, "WHO WOULD HAVE LED") || !strings.Contains(out, "the same candidates would have led") {
		t.Errorf("the table is\n%s", out)
	}
}

func TestIdentitiesAreShortened(t *testing.T) {
	for identity, want := range map[string]string{
		"app-0_4b775ed5-aebc-4532-a603-359b53555d85": "app-0",
		"app-0_other": "app-0_other",
		"app-0":       "app-0",
	} {
		if got := shortIdentity(identity); got != want {
			t.Errorf("%s: got %s", identity, got)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", -time.Hour: "0.0s", 9440 * time.Millisecond: "9.4s", 12*time.Minute + 5*time.Second: "12m5s", 26*time.Hour + 3*time.Minute: "26h3m",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestLongNamesFitTheTable(t *testing.T) {
	holder := strings.Repeat("h", 64<<10) + "-0"
	was := terms(3, holder)
	was[0].Version, was[1].Version = strings.Repeat("v", 100), strings.Repeat("1.", 200)
	r := madeUp(was, terms(2, holder))
	l := &r.Leases[0]
	l.Lease = strings.Repeat("n", 63) + "/" + strings.Repeat("l", 253)
	l.Notes = []string{"about " + holder}
	l.Refusals = []audit.Refusal{{Time: start, Message: "lease " + l.Lease + ": candidate " + holder + " is not chosen"}}
	out := table(t, r, Style{})
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d characters: %.100s", n, line)
		}
	}
	if !strings.Contains(out, "hh-0 ") || !strings.Contains(out, "…") || len(out) > 5000 {
		t.Errorf("the table is\n%.5000s", out)
	}
	if joined := strings.ReplaceAll(out, "\n", ""); !strings.Contains(joined, l.Lease) {
		t.Error("the name of the Lease is not there in full")
	}
}

func TestColumnsGiveWayTogether(t *testing.T) {
	rows := [][]string{{"a", strings.Repeat("x", 30), "b", strings.Repeat("y", 30)}, {"a", "short"}}
	fit(rows, 45, map[int]func(string, int) string{1: cutFront, 3: cutBack})
	want := [][]string{{"a", "…" + strings.Repeat("x", 19), "b", strings.Repeat("y", 19) + "…"}, {"a", "short"}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatIsNotKnownIsShown(t *testing.T) {
	was := terms(2, "a")
	was[0].NotKnown = true
	r := madeUp(was, was)
	r.Leases[0].AsItWas.NotKnown = 12.34
	for _, under := range []*audit.Course{nil, r.Leases[0].UnderPolicy} {
		r.Leases[0].UnderPolicy = under
		if out := table(t, r, Style{}); !strings.Contains(out, "seconds not known") || !strings.Contains(out, "12.3") || !strings.Contains(out, "Released  unknown") {
			t.Errorf("the table is\n%s", out)
		}
	}
	if page := html(t, r); !strings.Contains(page, "who led is not known") || !strings.Contains(page, "seconds not known") {
		t.Error("the page does not show it")
	}
}
