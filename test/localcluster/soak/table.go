package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// header is that of the table. A vacancy is told as median / worst, in seconds,
// and the worst as a part of its bound.
var header = []string{"fault", "times", "vacant, s", "of bound", "changes", "two", ""}

// write prints the table and what was found, and writes the files. What was found
// is an error.
func (r *report) write(o *options) error {
	fmt.Fprintln(o.out)
	r.table(o.out)
	var errs []error
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{{o.markdown, r.asMarkdown}, {o.json, r.asJSON}} {
		if f.path != "" {
			errs = append(errs, writeFile(f.path, f.write))
		}
	}
	if n := len(r.Violations); n > 0 {
		r.explain(o.out)
		errs = append(errs, fmt.Errorf("%d violations", n))
	}
	return errors.Join(errs...)
}

// table prints the report for people, within 80 columns.
func (r *report) table(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, l := range r.Faults {
		fmt.Fprintln(w, strings.Join(l.cells(), "\t"))
	}
	w.Flush()
	fmt.Fprint(out, "\nVacant: median / worst, over all Leases. Of bound: the worst of them, as a part\n"+
		"of how long it may take. Two: how often two led at once.\n")
	for _, note := range r.notes() {
		fmt.Fprintln(out, note)
	}
}

func (l *line) cells() []string {
	verdict := "ok"
	if l.Violations > 0 {
		verdict = "BAD"
	}
	vacant, of := "-", "-"
	if n := len(l.Vacancies); n > 0 {
		sorted := slices.Sorted(slices.Values(l.Vacancies))
		vacant = fmt.Sprintf("%.1f / %.1f", (sorted[(n-1)/2]+sorted[n/2])/2, sorted[n-1])
		of = fmt.Sprintf("%.0f%%", 100*l.OfBound)
	}
	return []string{l.Fault, fmt.Sprint(l.Times), vacant, of, fmt.Sprint(l.Changes), fmt.Sprint(l.TwoLeaders), verdict}
}

// notes are what the table does not show.
func (r *report) notes() []string {
	notes := []string{
		fmt.Sprintf("Seed %d, %s, load average %s before and %s after.", r.Seed, r.Finished.Sub(r.Started).Round(time.Second), r.Machine.LoadBefore, r.Machine.LoadAfter),
	}
	for _, l := range r.Leases {
		text := fmt.Sprintf("%s (%s): %d terms", l.Lease, l.Electors, l.Terms)
		if l.Stale > 0 {
			text += fmt.Sprintf("; stale after a pause %d times, up to %.1fs", l.Stale, l.LongestStale)
		}
		notes = append(notes, text+".")
	}
	for _, m := range r.Memory {
		notes = append(notes, fmt.Sprintf("%s: %d MiB at the start, %d at most, %d at the end.", m.Replica, m.Start, m.Most, m.End))
	}
	notes = append(notes,
		fmt.Sprintf("%d attempts ruled on. With nothing in the way %d were not, and %d calls failed:", r.Rulings, r.Unruled, r.FailedCalls),
		fmt.Sprintf("%d of these took longer than the 1 s that they have.", r.TimedOut),
		fmt.Sprintf("Panics of Leasewarden: %d.", len(r.Panics)))
	for _, name := range slices.Sorted(maps.Keys(r.EndedByThemselves)) {
		notes = append(notes, fmt.Sprintf("%s ended by itself %d times, and was started again.", name, r.EndedByThemselves[name]))
	}
	return notes
}

// maxExplained is how many violations are shown with what happened around them.
const maxExplained = 5

// explain prints the violations, and what happened around them.
func (r *report) explain(out io.Writer) {
	for i, v := range r.Violations {
		fmt.Fprintf(out, "\nVIOLATION at %s, %s %s: %s\n", v.At.UTC().Format(time.TimeOnly), v.Fault, v.Lease, v.Text)
		if i >= maxExplained || v.from.IsZero() {
			continue
		}
		for _, n := range r.journal.around(v.from, v.to, v.Lease) {
			fmt.Fprintln(out, "  "+n.String())
		}
	}
}

// asMarkdown writes the report as a table and notes.
func (r *report) asMarkdown(out io.Writer) error {
	var text strings.Builder
	row := func(cells []string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	row(append(slices.Clone(header[:len(header)-1]), "verdict"))
	row(strings.Split(strings.Repeat("---,", len(header)-1)+"---", ","))
	for _, l := range r.Faults {
		row(l.cells())
	}
	fmt.Fprintf(&text, "\n%s. %s, %d processors (%s). Kubernetes %s, etcd %s, %s.\n", r.Started.UTC().Format("2006-01-02"),
		r.Machine.System, r.Machine.Processors, r.Machine.Model, strings.Join(r.Versions.Kubernetes, " and "), r.Versions.Etcd, r.Versions.Go)
	for _, note := range r.notes() {
		fmt.Fprintf(&text, "- %s\n", note)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&text, "- Violation, %s %s: %s\n", v.Fault, v.Lease, v.Text)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
