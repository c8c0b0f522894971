package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/doctor"
)

// verdictColors are how the verdicts of a doctor look.
var verdictColors = map[doctor.Verdict]emphasis{
	doctor.OK: green, doctor.Warning: yellow, doctor.Problem: red, doctor.Unknown: faint,
}

// Findings writes what was found, and below each what to do about it.
func Findings(w io.Writer, findings []doctor.Finding, style Style) error {
	p := newPrinter(style)
	checks, verdicts := len("CHECK"), len(doctor.Problem)
	for i := range findings {
		checks = max(checks, width(findings[i].Check))
	}
	p.line(bold, pad("CHECK", checks)+gap+pad("VERDICT", verdicts)+gap+"FOUND")
	for i := range findings {
		f := &findings[i]
		p.finding(f, pad(f.Check, checks)+gap+pad(string(f.Verdict), verdicts)+gap)
	}
	p.line(plain, "")
	p.wrapped(bold, tally(findings))
	return p.flush(w)
}

func (p *printer) finding(f *doctor.Finding, start string) {
	indent := strings.Repeat(" ", width(start))
	room := max(narrowest, p.Width-width(start))
	for i, line := range wrap(f.Message, room) {
		if i > 0 {
			start = indent
		}
		p.line(verdictColors[f.Verdict], start+line)
	}
	if f.Advice == "" {
		return
	}
	for i, line := range wrap(f.Advice, room-len(advice)) {
		start := indent + strings.Repeat(" ", len(advice))
		if i == 0 {
			start = indent + advice
		}
		p.line(plain, start+line)
	}
}

// advice begins what to do.
const advice = "> "

// tally says how many findings there are that are not ok.
func tally(findings []doctor.Finding) string {
	var parts []string
	for _, v := range []struct {
		verdict   doctor.Verdict
		one, many string
	}{{doctor.Problem, "problem", "problems"}, {doctor.Warning, "warning", "warnings"}, {doctor.Unknown, "unknown", "unknown"}} {
		switch n := doctor.Count(findings, v.verdict); n {
		case 0:
		case 1:
			parts = append(parts, "1 "+v.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, v.many))
		}
	}
	if len(parts) == 0 {
		return "Nothing is wrong."
	}
	return strings.Join(parts, ", ") + "."
}
