package auditreport

import (
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/audit"
)

// clockFormat is how times are written: without the date, if that is the same
// for all.
type clockFormat string

const (
	sameDay   clockFormat = "15:04:05"
	otherDays clockFormat = "01-02 15:04:05"
)

func clockFor(r *audit.Report) clockFormat {
	if r.Log.From.UTC().Format(time.DateOnly) == r.Log.To.UTC().Format(time.DateOnly) {
		return sameDay
	}
	return otherDays
}

func (c clockFormat) format(t time.Time) string { return t.UTC().Format(string(c)) }

func (c clockFormat) width() int { return len(c) }

// lasted is how long a term lasted, as far as its holder is known to have led.
func lasted(t *audit.Term) string {
	text := span(t.Renewed.Sub(t.Start))
	if t.Earlier {
		return ">" + text
	}
	return text
}

// unknown stands for how long nobody led, if somebody may have.
const unknown = "unknown"

// vacancy is how long nobody led after a term. Empty: somebody did at once.
func vacancy(terms []audit.Term, i int) string {
	if i+1 >= len(terms) {
		return ""
	}
	gap := terms[i+1].Start.Sub(terms[i].Renewed)
	switch {
	case gap <= 0:
		return ""
	case terms[i].NotKnown:
		return unknown
	}
	return span(gap)
}

// span is a duration for people: 9.4s, 12m5s, 26h3m. None is negative, whatever
// clocks said.
func span(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}
