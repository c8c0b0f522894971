package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

// example is a report with one act of each fault, of which one went wrong.
func example() *report {
	start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	r := newReport(&options{seed: 18446744073709551615})
	r.Finished, r.journal = r.Started.Add(30*time.Minute), &journal{}
	r.Memory = []Memory{{"leasewarden-0", 50, 70, 60}}
	r.EndedByThemselves = map[string]int{"leasewarden-1": 3}
	r.journal.add(start.Add(time.Second), "keeps", "keeps-1 is killed")
	leases := map[*contest]*belief.Lease{}
	for _, c := range contests {
		leases[c] = belief.Judge(nil, start)
		r.Leases = append(r.Leases, newLeased(c, leases[c]))
	}
	for _, f := range faults {
		p := &played{act: &act{fault: f}, Span: belief.Span{From: start, To: start.Add(time.Minute)}, changes: 12}
		p.vacancies = map[string][]belief.Vacancy{"keeps": {
			{Span: belief.Span{From: start, To: start.Add(time.Second)}, Waited: time.Second},
			{Span: belief.Span{From: start, To: start.Add(15 * time.Second)}, Waited: 15 * time.Second},
		}}
		if f == killEtcd {
			p.vacancies["keeps"][1].Waited = 60 * time.Second
		}
		l := newLine(f)
		if !l.take(r, []*played{p}, leases) {
			panic(f.name)
		}
		r.Faults = append(r.Faults, l)
	}
	return r
}

// Every line of the table fits 80 columns, with figures of the usual size.
func TestTableFitsTheScreen(t *testing.T) {
	r := example()
	var text strings.Builder
	r.table(&text)
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{
		"leader killed                    1      8.0 / 15.0   99%       12       0            ok",
		"leasewarden-0: 50 MiB at the start, 70 at most, 60 at the end.",
		"leasewarden-1 ended by itself 3 times",
		"Panics of Leasewarden: 0.",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}

func TestProgressFitsTheScreen(t *testing.T) {
	for _, f := range faults {
		p := &played{act: &act{fault: f}, settled: 170 * time.Second, vacancies: map[string][]belief.Vacancy{
			"controllers": {{Waited: 39 * time.Second}},
		}}
		if line := p.line(29*time.Minute, 45); len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// What was found is an error, and is shown with what happened around it.
func TestViolationsAreExplained(t *testing.T) {
	r := example()
	var text strings.Builder
	err := r.write(&options{out: &text})
	if err == nil || err.Error() != "1 violations" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"VIOLATION at 00:00:00, etcd: killed keeps: vacant for 60.0s, at most 23.2s", "keeps-1 is killed", "BAD"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	var markdown strings.Builder
	if err := r.asMarkdown(&markdown); err != nil || !strings.Contains(markdown.String(), "| etcd: killed | 1 | 30.5 / 60.0 | 259% | 12 | 0 | BAD |") {
		t.Error(err, markdown.String())
	}
}

func TestPanics(t *testing.T) {
	log := "I1201 fine\npanic: runtime error: index out of range\nE1201 \"Observed a panic\" panic=1\nhttp: panic serving 127.0.0.1:1: x\nI1201 a panic is nothing\n"
	if got := panics(log); len(got) != 3 {
		t.Errorf("got %q", got)
	}
}
