package audit

import (
	"context"
	"strings"
	"testing"
	"time"
)

// FuzzAudit plays logs of writes in any order, with any gaps and defects, and
// checks that what is reported of them adds up. Three bytes are an event: what
// happens, how many half seconds after the one before, and to whom.
func FuzzAudit(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 4, 0, 2, 4, 0, 3, 4, 0, 1, 4, 1, 5, 4, 1}, "")
	f.Add([]byte{0, 0, 0, 1, 60, 1, 2, 200, 1, 4, 4, 0, 8, 1, 0, 9, 1, 0}, "{\n")
	f.Add([]byte{6, 0, 0, 6, 0, 1, 0, 1, 1, 7, 1, 1, 10, 1, 0, 11, 1, 0, 12, 1, 0, 13, 1, 0}, "\xff")
	f.Add([]byte{1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 5, 0, 0}, "null")
	f.Fuzz(func(t *testing.T, script []byte, junk string) {
		log := text(t, played(script))
		if len(script) < 3 {
			return
		}
		a, err := New(context.Background(), Options{Objects: objects(policy(oldest), "a-v1.36.0"), Paths: []string{"-"}, Stdin: strings.NewReader(log + junk), All: true})
		if err != nil {
			t.Fatal(err)
		}
		report, err := a.Run()
		if err != nil {
			t.Fatalf("%v: %s", err, log)
		}
		for i := range report.Leases {
			l := &report.Leases[i]
			checkCourse(t, &l.AsItWas, report.Log.To.Sub(report.Log.From))
			if l.UnderPolicy != nil {
				checkCourse(t, l.UnderPolicy, report.Log.To.Sub(report.Log.From))
			}
			checkAttempts(t, l)
		}
	})
}

// played are the events of a script.
func played(script []byte) []entry {
	var log []entry
	now, who := 0.0, []string{"a-v1.36.0", "b-v1.37.0", "nobody"}
	acquired := 0.0
	for ; len(script) >= 3; script = script[3:] {
		now += float64(script[1]) / 2
		name := who[int(script[2])%len(who)]
		identity := name + "_1"
		switch script[0] % 14 {
		case 0:
			acquired = now
			log = append(log, creates(now, identity))
		case 1:
			acquired = now
			log = append(log, acquires(now, identity))
		case 2:
			log = append(log, renews(now, acquired, identity))
		case 3:
			log = append(log, releases(now))
		case 4:
			log = append(log, deletes(now))
		case 5:
			log = append(log, acquires(now, identity).code(409, "the object has been modified"))
		case 6:
			log = append(log, podIs(now, pod(name)))
		case 7:
			log = append(log, podIs(now, terminating(pod(name), now)))
		case 8:
			log = append(log, renews(now, acquired, identity).without("requestObject"))
		case 9:
			log = append(log, acquires(now, identity).code(403, "denied"))
		case 10:
			log = append(log, renews(now, acquired, identity).with("verb", "patch"))
		case 11:
			log = append(log, acquires(now, identity).with("requestObject", []any{1}))
		case 12:
			log = append(log, newEntry(now, "delete", "pods", "", name, nil))
		case 13:
			log = append(log, acquires(now-20, identity)) // late, or a clock that is behind
		}
	}
	return log
}

// checkCourse checks that a course fits into the log: terms come one after the
// other, and no more time is without a leader than there is.
func checkCourse(t *testing.T, c *Course, lasts time.Duration) {
	t.Helper()
	const rounding = 0.01
	whole := lasts.Seconds() + rounding
	if c.Changes < 0 || c.WithoutLeader < 0 || c.NotKnown < 0 || c.Longest > c.WithoutLeader+rounding || c.WithoutLeader+c.NotKnown > whole ||
		(c.Vacancies == 0) != (c.WithoutLeader == 0) && c.WithoutLeader > rounding || c.TotalTerms < len(c.Terms) {
		t.Errorf("in %s: %+v", lasts, c)
	}
	for i := range c.Terms {
		term := &c.Terms[i]
		if term.End != nil && term.End.Before(term.Start) || term.Holder == "" || term.Renewed.Before(term.Start) {
			t.Errorf("term %d: %+v", i, term)
		}
		if i > 0 && (c.Terms[i-1].End == nil || term.Start.Before(*c.Terms[i-1].End)) {
			t.Errorf("term %d begins before the last one ends: %+v, %+v", i, c.Terms[i-1], term)
		}
	}
}

// checkAttempts checks that all attempts are accounted for.
func checkAttempts(t *testing.T, l *Lease) {
	t.Helper()
	refused, reasons := 0, 0
	for _, r := range l.Refusals {
		refused += r.Count
	}
	for _, n := range l.Attempts.Reasons {
		reasons += n
	}
	if a := l.Attempts; a.Refused > a.Total || refused > a.Refused || reasons > a.Total {
		t.Errorf("%+v, of which %d are listed and %d have a reason", a, refused, reasons)
	}
}
