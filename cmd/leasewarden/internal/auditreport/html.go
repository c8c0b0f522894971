package auditreport

import (
	"embed"
	"html/template"
	"io"
	"time"

	"github.com/leasewarden/leasewarden/audit"
)

//go:embed *.gohtml
var templates embed.FS

var pages = template.Must(template.ParseFS(templates, "*.gohtml"))

// HTML writes the report as one page that needs nothing else: no network, no
// script.
func HTML(w io.Writer, r *audit.Report) error {
	return pages.ExecuteTemplate(w, "page.gohtml", newPage(r))
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
	return pages.ExecuteTemplate(w, "comparison.gohtml", view)
}
