package auditreport

import (
	"embed"
	"html/template"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/leasewarden/leasewarden/audit"
)

//go:embed *.gohtml
var templates embed.FS

var pages = template.Must(template.ParseFS(templates, "*.gohtml"))

// HTML writes the report as one page that needs nothing else: no network, no
// script.
func HTML(w io.Writer, r *audit.Report) error {
	return execute(w, "page.gohtml", newPage(r))
}

// execute writes a page, with a replacement for characters that are not seen but
// change how others are, such as those that turn the direction of a text.
func execute(w io.Writer, name string, data any) error {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, b.String()))
	return err
}

// Comparison is a page about several courses of the same thing.
type Comparison struct {
	Title string
	// Lines stand below the title.
	Lines []string
	// Table compares the courses. Its first row and column are titles.
	Table [][]string
	// Sample is the title of the time line, on which Courses are shown from From
	// to To.
	Sample   string
	From, To time.Time
	Courses  []NamedCourse
}

// NamedCourse is one of the courses.
type NamedCourse struct {
	Name  string
	Terms []audit.Term
}

// HTML writes the page.
func (c *Comparison) HTML(w io.Writer) error {
	x := axis{from: c.From, to: c.To, clock: sameDay}
	colours := newPalette()
	view := struct {
		*Comparison
		Versions []version
		Lanes    []lane
		Ticks    []tick
	}{Comparison: c, Ticks: x.ticks()}
	for _, course := range c.Courses {
		view.Lanes = append(view.Lanes, newLane(course.Name, course.Terms, true, x, colours))
	}
	view.Versions = colours.legend
	return execute(w, "comparison.gohtml", view)
}
