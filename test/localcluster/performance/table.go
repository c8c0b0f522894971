package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// columns are the heads of the table.
var columns = []string{"", "figure", "median", "beside it", "to reach"}

// table prints the report for people, within 80 columns.
func (r *report) table(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(columns, "\t"))
	for _, f := range r.Figures {
		fmt.Fprintln(w, strings.Join(f.cells(), "\t"))
	}
	w.Flush()
	fmt.Fprintf(out, "\n%s.\nLoad average %s before, %s after.\n", r.method(), r.Machine.LoadBefore, r.Machine.LoadAfter)
	for _, note := range r.notes() {
		fmt.Fprintln(out, note)
	}
}

// asMarkdown writes the report as a table and a list of what was missed.
func (r *report) asMarkdown(out io.Writer) error {
	var text strings.Builder
	row := func(cells []string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	row(columns)
	row(strings.Split(strings.Repeat("---,", len(columns)-1)+"---", ","))
	for _, f := range r.Figures {
		row(f.cells())
	}
	fmt.Fprintf(&text, "\n%s, %s to %s UTC. %s. %s, %d processors (%s), load average %s before and %s after. Kubernetes %s, etcd %s, %s.\n",
		r.Started.UTC().Format("2006-01-02"), r.Started.UTC().Format("15:04"), r.Finished.UTC().Format("15:04"), r.method(),
		r.Machine.System, r.Machine.Processors, r.Machine.Model, r.Machine.LoadBefore, r.Machine.LoadAfter,
		r.Versions.Kubernetes, r.Versions.Etcd, r.Versions.Go)
	for _, note := range r.notes() {
		fmt.Fprintf(&text, "\n%s\n", note)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// method says how the figures came about.
func (r *report) method() string {
	text := fmt.Sprintf("Medians; ratios are of the same round, of %d, with their 95%% interval", r.Rounds)
	if r.Quick {
		text += "; measured with --quick, which says nothing about speed"
	}
	return text
}

// notes are what the table does not show, first what is missed.
func (r *report) notes() []string {
	var notes []string
	for _, f := range r.Figures {
		if f.Missed != "" {
			notes = append(notes, fmt.Sprintf("Missed: row %s, %s: %s.", f.Row, f.Name, f.Missed))
		}
	}
	return append(notes, r.Notes...)
}

func (f *figure) cells() []string {
	return []string{f.Row, f.Name, f.amount(), f.ratio(), f.Target.String()}
}

func (f *figure) amount() string {
	if f.Result == nil {
		return "-"
	}
	n := number(f.Result.Median)
	if f.Unit != "" {
		n += " " + f.Unit
	}
	return n
}

func (f *figure) ratio() string {
	if f.Ratio == nil {
		return ""
	}
	return fmt.Sprintf("%.2fx (%.2f-%.2f)", f.Ratio.Median, f.Ratio.Low, f.Ratio.High)
}

// number has three digits that count, and no exponent.
func number(n float64) string {
	switch {
	case n >= 100 || n == float64(int(n)):
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2f", n)
}
