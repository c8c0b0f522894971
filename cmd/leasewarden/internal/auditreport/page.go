package auditreport

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/audit"
)

// page is what the template shows.
type page struct {
	*audit.Report
	Period string
	Leases []leasePage
}

// leasePage is the part on one Lease.
type leasePage struct {
	*audit.Lease
	Summary  [][]string
	Versions []version
	Lanes    []lane
	Ticks    []tick
}

// version is a colour of the legend.
type version struct{ Name, Class string }

// lane is one course on the time line.
type lane struct {
	Title string
	Bars  []bar
	Rows  []row
	Why   bool
}

// bar is a term, or a time without a leader, on the time line. Left and Width
// are in per cent.
type bar struct {
	Left, Width float64
	// Class is the colour, Label what is written on it.
	Class, Label string
	// Details are shown to whoever points at it, aligned to its right end if
	// Right.
	Details []string
	Right   bool
}

// row is a term in the table.
type row struct {
	From, Holder, Node, Version, Lasted, Ended, Vacancy, Why, Class string
	Estimated                                                       bool
}

type tick struct {
	At   float64
	Text string
}

func newPage(r *audit.Report) *page {
	p := &page{Report: r, Period: period(r)}
	for i := range r.Leases {
		p.Leases = append(p.Leases, newLeasePage(r, &r.Leases[i]))
	}
	return p
}

func newLeasePage(r *audit.Report, l *audit.Lease) leasePage {
	x := axis{from: r.Log.From, to: r.Log.To, clock: clockFor(r)}
	colours := newPalette()
	out := leasePage{Lease: l, Summary: summary(l), Ticks: x.ticks()}
	out.Lanes = append(out.Lanes, newLane("as it was", l.AsItWas.Terms, false, x, colours))
	if l.UnderPolicy != nil {
		out.Lanes = append(out.Lanes, newLane("under the policy", l.UnderPolicy.Terms, true, x, colours))
	}
	out.Versions = colours.legend
	return out
}

func newLane(title string, terms []audit.Term, course bool, x axis, colours *palette) lane {
	l := lane{Title: title, Why: course}
	for i := range terms {
		t := &terms[i]
		class := colours.class(t.Version)
		if t.Estimated {
			class += " estimated"
		}
		l.Bars = append(l.Bars, x.term(t, class))
		if gap := vacancy(terms, i); gap != "" {
			l.Bars = append(l.Bars, x.vacancy(t, &terms[i+1]))
		} else if i == len(terms)-1 && t.End != nil {
			l.Bars = append(l.Bars, x.vacancy(t, nil))
		}
		l.Rows = append(l.Rows, newRow(terms, i, x.clock, class))
	}
	return l
}

func newRow(terms []audit.Term, i int, clock clockFormat, class string) row {
	t := &terms[i]
	from := clock.format(t.Start)
	if t.Earlier {
		from = "before"
	}
	return row{
		From: from, Holder: cutWord(t.Holder), Node: t.Node, Version: cutWord(t.Version), Lasted: lasted(t), Ended: t.Reason,
		Vacancy: vacancy(terms, i), Why: t.Criterion, Class: class, Estimated: t.Estimated,
	}
}

// palette gives each version a colour, in the order in which they come.
type palette struct {
	classes map[string]string
	legend  []version
}

// colours is how many the page has. Further versions begin anew.
const colours = 8

func newPalette() *palette { return &palette{classes: map[string]string{}} }

func (p *palette) class(name string) string {
	if class, ok := p.classes[name]; ok {
		return class
	}
	class, shown := "unknown", "no version known"
	if name != "" {
		n := len(p.classes)
		if _, ok := p.classes[""]; ok {
			n--
		}
		class, shown = fmt.Sprintf("v%d", n%colours), name
	}
	p.classes[name] = class
	p.legend = append(p.legend, version{shown, class})
	return class
}

// axis is the time line's.
type axis struct {
	from, to time.Time
	clock    clockFormat
}

// at is where a moment is, in per cent.
func (x axis) at(t time.Time) float64 {
	all := x.to.Sub(x.from)
	if all <= 0 {
		return 0
	}
	return min(100, max(0, 100*float64(t.Sub(x.from))/float64(all)))
}

func (x axis) bar(from, to time.Time) bar {
	left := x.at(from)
	return bar{Left: left, Width: x.at(to) - left, Right: left > 50}
}

func (x axis) term(t *audit.Term, class string) bar {
	b := x.bar(t.Start, t.Renewed)
	b.Class, b.Label = class, cutWord(t.Holder)
	b.Details = append(b.Details, b.Label)
	add := func(name, value string) {
		if value != "" {
			b.Details = append(b.Details, name+": "+cutWord(value))
		}
	}
	add("version", t.Version)
	add("node", t.Node)
	if t.Earlier {
		add("from", "before the log begins")
	} else {
		add("from", x.clock.format(t.Start))
	}
	add("led for", lasted(t))
	if t.End != nil {
		add("ended", strings.TrimSuffix(x.clock.format(*t.End)+", "+t.Reason, ", "))
	}
	if t.Renewals > 0 {
		add("renewals", fmt.Sprint(t.Renewals))
	}
	if t.Lapses > 0 {
		add("not renewed in time", fmt.Sprint(t.Lapses)+" times")
	}
	add("why", t.Criterion)
	add("identity", t.Identity)
	if t.Estimated {
		b.Details = append(b.Details, "(did not happen: estimated)")
	}
	return b
}

// vacancy is the time between a term and the next, or the end of the log.
func (x axis) vacancy(t, next *audit.Term) bar {
	to := x.to
	if next != nil {
		to = next.Start
	}
	b := x.bar(t.Renewed, to)
	b.Class = "vacant"
	b.Details = []string{"nobody is known to have led", "from: " + x.clock.format(t.Renewed), "for: " + span(to.Sub(t.Renewed))}
	if t.NotKnown {
		b.Class, b.Details[0] = "unknown", "who led is not known"
	}
	return b
}

// steps are what ticks may be apart.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// maxTicks is how many ticks there may be.
const maxTicks = 7

func (x axis) ticks() []tick {
	all := x.to.Sub(x.from)
	if all <= 0 {
		return nil
	}
	step := all / maxTicks
	for _, s := range steps {
		if s >= step {
			step = s
			break
		}
	}
	step = max(step, time.Millisecond)
	var ticks []tick
	for t := x.from.Truncate(step).Add(step); t.Before(x.to); t = t.Add(step) {
		ticks = append(ticks, tick{x.at(t), x.clock.format(t)})
	}
	return ticks
}
