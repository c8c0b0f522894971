package auditreport

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
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
		0: "0.0s", 9440 * time.Millisecond: "9.4s", 12*time.Minute + 5*time.Second: "12m5s", 26*time.Hour + 3*time.Minute: "26h3m",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
