package auditreport

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/leasewarden/leasewarden/audit"
)

// Style is how a table looks. The zero Style is for a file.
type Style struct {
	// Width is the number of characters in a line that long texts are wrapped
	// to. Default: 80.
	Width int
	// Color marks titles.
	Color bool
	// All lists every term and refusal. Otherwise the last ones are listed.
	All bool
}

const (
	defaultWidth = 80
	// maxRows is how many terms and how many refusals are listed of a Lease.
	maxRows = 20
	// maxSeen is how long the list of versions may get.
	maxSeen = 48
)

// Table writes the report for people.
func Table(w io.Writer, r *audit.Report, style Style) error {
	if style.Width <= 0 {
		style.Width = defaultWidth
	}
	p := &printer{Style: style, clock: clockFor(r)}
	p.log(r)
	for i := range r.Leases {
		p.lease(&r.Leases[i])
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

type printer struct {
	Style
	clock clockFormat
	text  strings.Builder
}

// log says what was read and what was found in it.
func (p *printer) log(r *audit.Report) {
	p.wrapped(fmt.Sprintf("%d lines, of which %d were of use%s.", r.Log.Lines, r.Log.Events, period(r)))
	for _, f := range r.Log.Findings {
		p.wrapped("warning: " + f.String())
	}
	for _, note := range r.Notes {
		p.wrapped(note)
	}
	switch {
	case len(r.Leases) == 0:
		p.wrapped("Nothing was written to a Lease" + ofGoverned(r) + ".")
	case r.Ungoverned == 1:
		p.wrapped("1 more Lease is governed by no policy; -A shows it.")
	case r.Ungoverned > 1:
		p.wrapped(fmt.Sprintf("%d more Leases are governed by no policy; -A shows them.", r.Ungoverned))
	}
}

func ofGoverned(r *audit.Report) string {
	if r.Ungoverned == 0 {
		return ""
	}
	return fmt.Sprintf(" that a policy governs, but to %d others; -A shows them", r.Ungoverned)
}

func period(r *audit.Report) string {
	if r.Log.From.IsZero() {
		return ""
	}
	const layout = "2006-01-02 15:04:05"
	return ", from " + r.Log.From.UTC().Format(layout) + " to " + r.Log.To.UTC().Format(layout) + " UTC"
}

func (p *printer) lease(l *audit.Lease) {
	p.line("")
	p.title("Lease " + l.Lease)
	if l.Policy != "" {
		p.wrapped(fmt.Sprintf("%s, strategy %s, mode %s", l.Policy, l.Strategy, l.Mode))
	}
	p.line("")
	p.grid(summary(l))
	p.terms("WHO LED", l.AsItWas.Terms)
	switch {
	case l.UnderPolicy == nil:
	case follows(l):
		p.line("")
		p.wrapped("Under the policy the same candidates would have led.")
	default:
		p.terms("WHO WOULD HAVE LED", l.UnderPolicy.Terms)
	}
	p.refusals(l.Refusals)
	if len(l.Notes) > 0 {
		p.line("")
	}
	for _, note := range l.Notes {
		p.wrapped(note)
	}
}

// follows reports whether the policy would have changed nothing.
func follows(l *audit.Lease) bool {
	was, would := l.AsItWas.Terms, l.UnderPolicy.Terms
	if len(was) != len(would) {
		return false
	}
	for i := range was {
		if was[i].Identity != would[i].Identity || !was[i].Start.Equal(would[i].Start) {
			return false
		}
	}
	return true
}

// summary compares the two courses.
func summary(l *audit.Lease) [][]string {
	was, would := &l.AsItWas, l.UnderPolicy
	if would == nil {
		rows := [][]string{
			{"changes of the leader", fmt.Sprint(was.Changes)},
			{"seconds without a leader", decimal(was.WithoutLeader)},
			{"the longest of them", decimal(was.Longest)},
		}
		if was.NotKnown > 0 {
			rows = append(rows, []string{notKnown, decimal(was.NotKnown)})
		}
		return rows
	}
	rows := [][]string{
		{"", "AS IT WAS", "UNDER THE POLICY", ""},
		{"changes of the leader", fmt.Sprint(was.Changes), fmt.Sprint(would.Changes), saved(float64(was.Changes), float64(would.Changes))},
		{"seconds without a leader", decimal(was.WithoutLeader), decimal(would.WithoutLeader), saved(was.WithoutLeader, would.WithoutLeader)},
		{"the longest of them", decimal(was.Longest), decimal(would.Longest), ""},
		{"attempts to acquire", fmt.Sprint(l.Attempts.Total), fmt.Sprintf("%d refused", l.Attempts.Refused), ""},
		{"candidates seen", seen(l)},
	}
	if was.NotKnown > 0 || would.NotKnown > 0 {
		rows = slices.Insert(rows, 4, []string{notKnown, decimal(was.NotKnown), decimal(would.NotKnown), ""})
	}
	return rows
}

// notKnown is how long it is not known whether somebody led.
const notKnown = "seconds not known"

func saved(was, would float64) string {
	switch {
	case was > would:
		return decimal(was-would) + " saved"
	case was < would:
		return decimal(would-was) + " added"
	}
	return ""
}

// decimal leaves out a fraction that is nought.
func decimal(n float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0")
}

// seen counts the candidates by version.
func seen(l *audit.Lease) string {
	byVersion, order := map[string]int{}, []string{}
	for i := range l.Candidates {
		version := strings.Join(l.Candidates[i].Versions, "/")
		if byVersion[version] == 0 {
			order = append(order, version)
		}
		byVersion[version]++
	}
	if len(order) == 0 || len(order) == 1 && order[0] == "" {
		return fmt.Sprint(len(l.Candidates))
	}
	var parts []string
	for _, version := range order {
		name := version
		if name == "" {
			name = "no version"
		}
		parts = append(parts, fmt.Sprintf("%d %s", byVersion[version], name))
	}
	if text := strings.Join(parts, ", "); len(text) <= maxSeen {
		return text
	}
	return fmt.Sprintf("%d, with different versions", len(l.Candidates))
}

func (p *printer) terms(title string, terms []audit.Term) {
	if len(terms) == 0 {
		return
	}
	p.line("")
	rows := [][]string{{"FROM", title, "FOR", "VERSION", "ENDED", "GAP"}}
	left := p.cut(len(terms))
	for i := len(terms) - left; i < len(terms); i++ {
		rows = append(rows, p.term(terms, i))
	}
	fit(rows, p.Width, map[int]func(string, int) string{1: cutFront, 3: cutBack})
	p.grid(rows)
	if left < len(terms) {
		p.line(fmt.Sprintf("and %d earlier terms; -v lists them", len(terms)-left))
	}
}

func (p *printer) term(terms []audit.Term, i int) []string {
	t := &terms[i]
	from := p.clock.format(t.Start)
	switch {
	case t.Earlier:
		from = "before"
	case t.Estimated:
		from = "~" + from
	}
	return []string{from, shortIdentity(t.Holder), lasted(t), dash(t.Version), dash(t.Reason), dash(vacancy(terms, i))}
}

// suffix is what client-go puts after the hostname in an identity.
var suffix = regexp.MustCompile(`_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// shortIdentity leaves out what is only there to tell processes apart.
func shortIdentity(holder string) string { return suffix.ReplaceAllString(holder, "") }

func (p *printer) cut(n int) int {
	if p.All {
		return n
	}
	return min(n, maxRows)
}

func (p *printer) refusals(all []audit.Refusal) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.title("WOULD HAVE BEEN REFUSED")
	left := p.cut(len(all))
	for i := range all[len(all)-left:] {
		f := &all[len(all)-left+i]
		text := p.clock.format(f.Time) + " "
		if f.Count > 1 {
			text += fmt.Sprintf("(%d times) ", f.Count)
		}
		text += f.Message
		if !f.Acquired {
			text += " (it was refused then, too)"
		}
		p.hanging(text, p.clock.width()+1)
	}
	if left < len(all) {
		p.line(fmt.Sprintf("and %d earlier ones; -v lists them", len(all)-left))
	}
}

// grid writes rows in columns, which move together where the line is too short.
func (p *printer) grid(rows [][]string) {
	text := columns(rows, 2)
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimRight(line, " \n")) > p.Width {
			text = columns(rows, 1)
			break
		}
	}
	for line := range strings.Lines(text) {
		p.line(strings.TrimRight(line, " \n"))
	}
}

func columns(rows [][]string, gap int) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, gap, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush() // a Builder takes everything
	return b.String()
}

func (p *printer) title(text string) {
	if p.Color {
		p.text.WriteString("\x1b[1m")
	}
	p.wrapped(text)
	if p.Color {
		p.text.WriteString("\x1b[0m")
	}
}

func (p *printer) wrapped(text string) { p.hanging(text, 0) }

// hanging wraps a text, and indents all lines but the first.
func (p *printer) hanging(text string, indent int) {
	line := ""
	for _, word := range words(text, max(shortest, p.Width-indent)) {
		switch {
		case strings.TrimSpace(line) == "":
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= p.Width:
			line += " " + word
		default:
			p.line(line)
			line = strings.Repeat(" ", indent) + word
		}
	}
	p.line(line)
}

func (p *printer) line(text string) { p.text.WriteString(printable(text) + "\n") }

// printable shows what a terminal could take for a command as a question mark.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
