package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	// barOfTerm and barOfVacancy fill the bars.
	barOfTerm    = '█'
	barOfVacancy = '░'
	// holderWidth is how long the name of a holder before its bar may be.
	holderWidth = 30
	vacant      = "vacant"
)

// Timeline draws the last terms of a Lease: a bar for each holder, and below
// them a table of the terms, the newest first. What ended before from is left
// out.
func Timeline(w io.Writer, e *v1alpha1.Election, from, now time.Time, style Style) error {
	p := newPrinter(style)
	spans := spansOf(e.Status.Terms, from, now)
	p.wrapped(bold, "Lease "+nameOf(e)+", "+heldFor(e, now))
	if len(spans) == 0 {
		p.wrapped(plain, "No term is known yet.")
		return p.flush(w)
	}
	start := spans[0].start
	if start.Before(from) {
		start = from
	}
	p.wrapped(plain, fmt.Sprintf("%s since %s, times in UTC", countTerms(spans), start.UTC().Format(time.DateTime)))
	p.line(plain, "")
	p.bars(spans, start, now)
	p.line(plain, "")
	p.terms(e.Name, spans)
	return p.flush(w)
}

func countTerms(spans []span) string {
	n := 0
	for i := range spans {
		if spans[i].term != nil {
			n++
		}
	}
	if n == 1 {
		return "1 term"
	}
	return fmt.Sprintf("%d terms", n)
}

func (p *printer) bars(spans []span, start, now time.Time) {
	holders := holdersOf(spans)
	names := len(vacant)
	for _, h := range holders {
		names = max(names, width(h))
	}
	names = min(names, holderWidth)
	a := &axis{start: start, end: now, cells: max(10, p.Width-names-len(gap))}
	labels, line := a.ticks()
	p.line(faint, pad("", names)+gap+labels)
	p.line(faint, pad("", names)+gap+line)
	for i, h := range holders {
		its := slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return s.holder != h })
		if h == "" {
			p.line(red, pad(vacant, names)+gap+a.bar(barOfVacancy, its))
			continue
		}
		p.line(barColors[i%len(barColors)], pad(cutFront(h, names), names)+gap+a.bar(barOfTerm, its))
	}
}

// barColors tell neighbours apart.
var barColors = []emphasis{green, cyan, blue, magenta, yellow}

func (p *printer) terms(lease string, spans []span) {
	var all []row
	for i := len(spans) - 1; i >= 0; i-- {
		all = append(all, termRow(lease, &spans[i]))
	}
	p.rows([]field{
		{title: "FROM"}, replicaField("HOLDER"), wordField("VERSION"),
		{title: "LASTED"}, {title: "ENDED"}, wordField("CHOSEN BY"),
	}, all)
}

func termRow(lease string, s *span) row {
	lasted := duration.HumanDuration(s.end.Sub(s.start))
	r := row{lease: lease, cells: []string{s.start.UTC().Format(time.DateTime), s.holder, "", lasted, "", ""}}
	switch {
	case s.term == nil:
		r.how, r.cells[1] = red, vacant
	case s.term.End == nil:
		r.how, r.cells[4] = green, "leads"
	default:
		r.cells[4] = s.term.EndReason
	}
	if s.term != nil {
		r.cells[2], r.cells[5] = s.term.Version, s.term.Criterion
	}
	return r
}
