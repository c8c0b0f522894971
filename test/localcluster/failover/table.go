package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// heading is what the columns have in common.
const heading = "median / worst; seconds, or how often"

// table prints the report for people, within 80 columns.
func (r *report) table(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(r.header(), "\t"))
	for _, l := range r.Figures {
		fmt.Fprintln(w, strings.Join(l.cells(), "\t"))
	}
	w.Flush()
	fmt.Fprintf(out, "\n%s. %d rounds each.\nLoad average %s before, %s after.\n", heading, r.Rounds, r.Machine.LoadBefore, r.Machine.LoadAfter)
	for _, note := range r.notes() {
		fmt.Fprintln(out, note)
	}
}

// asMarkdown writes the report as a table and a list of what was missed.
func (r *report) asMarkdown(out io.Writer) error {
	var text strings.Builder
	row := func(cells []string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	header := r.header()
	header[0] = heading
	row(header)
	row(strings.Split(strings.Repeat("---,", len(header)-1)+"---", ","))
	for _, l := range r.Figures {
		row(l.cells())
	}
	fmt.Fprintf(&text, "\n%s, %d rounds each. %s, %d processors (%s), load average %s before and %s after. Kubernetes %s, %s.\n",
		r.Started.UTC().Format("2006-01-02"), r.Rounds, r.Machine.System, r.Machine.Processors, r.Machine.Model,
		r.Machine.LoadBefore, r.Machine.LoadAfter, r.Versions.Kubernetes, r.Versions.Go)
	for _, note := range r.notes() {
		fmt.Fprintf(&text, "\n%s\n", note)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// notes are what the table does not show: what Leasewarden misses, and what did not
// come to an end.
func (r *report) notes() []string {
	var notes []string
	for _, l := range r.Figures {
		if l.Missed != "" {
			notes = append(notes, fmt.Sprintf("Missed: %s: %s", l.Name, l.Missed))
		}
	}
	for _, s := range r.Stalled {
		notes = append(notes, fmt.Sprintf("No end after %v: %s", patience, s))
	}
	return notes
}

func (r *report) header() []string {
	cells := []string{""}
	for _, c := range contenders {
		cells = append(cells, c.name)
	}
	return append(cells, "to reach")
}

func (l *line) cells() []string {
	cells := []string{l.Name}
	for _, c := range contenders {
		cells = append(cells, l.Results[c.name].cell(l.Unit))
	}
	return append(cells, l.Target)
}

// cell is a result, "-" if there is none.
func (r *result) cell(unit string) string {
	switch {
	case r == nil:
		return "-"
	case unit == seconds:
		return fmt.Sprintf("%.1f / %.1f", r.Median, r.Worst)
	}
	return fmt.Sprintf("%.4g / %.0f", r.Median, r.Worst)
}
