package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Style is how a table looks. The zero Style is for a file.
type Style struct {
	// Width is the number of characters in a line that long texts are wrapped
	// to. Default: 80.
	Width int
	// Color marks the chosen candidate, and those that are not eligible.
	Color bool
}

const defaultWidth = 80

// Table writes the elections for people: what was decided, the candidates in
// order with every criterion, and why.
func Table(w io.Writer, elections []Election, style Style) error {
	p := newPrinter(style)
	for i := range elections {
		if i > 0 {
			p.line(plain, "")
		}
		p.election(&elections[i])
	}
	return p.flush(w)
}

// emphasis is an ANSI sequence that starts a colour. Empty: none.
type emphasis string

const (
	plain   emphasis = ""
	bold    emphasis = "\x1b[1m"
	faint   emphasis = "\x1b[2m"
	red     emphasis = "\x1b[31m"
	green   emphasis = "\x1b[32m"
	yellow  emphasis = "\x1b[33m"
	blue    emphasis = "\x1b[34m"
	magenta emphasis = "\x1b[35m"
	cyan    emphasis = "\x1b[36m"
	reset            = "\x1b[0m"
)

type printer struct {
	Style
	text strings.Builder
}

func newPrinter(style Style) *printer {
	if style.Width <= 0 {
		style.Width = defaultWidth
	}
	return &printer{Style: style}
}

// flush writes what was printed.
func (p *printer) flush(w io.Writer) error {
	_, err := io.WriteString(w, p.text.String())
	return err
}

func (p *printer) election(e *Election) {
	p.wrapped(bold, "Lease "+e.Lease+", "+holding(e.Holder))
	p.wrapped(plain, fmt.Sprintf("%s, strategy %s, mode %s", e.Policy, e.Strategy, e.Mode))
	if len(e.Candidates) > 0 {
		p.line(plain, "")
		p.grid(e)
	}
	p.line(plain, "")
	for _, note := range notes(e) {
		p.wrapped(plain, note)
	}
}

func holding(h *Holder) string {
	switch {
	case h == nil:
		return "vacant"
	case h.Name == nil:
		return "held by " + h.Identity + ", which is not a candidate"
	case h.TermOver:
		return "vacant since the term of " + *h.Name + " ran out"
	}
	return "held by " + *h.Name
}

// wrapped writes a text that may take several lines.
func (p *printer) wrapped(how emphasis, text string) {
	for _, line := range wrap(text, p.Width) {
		p.line(how, line)
	}
}

// line writes one line. What comes from an object may be anything: a character
// that a terminal could take for a command is shown as a question mark.
func (p *printer) line(how emphasis, text string) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.TrimRight(text, " "))
	if p.Color && how != plain && text != "" {
		text = string(how) + text + reset
	}
	p.text.WriteString(text + "\n")
}
