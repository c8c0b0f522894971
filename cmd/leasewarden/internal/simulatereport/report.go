package simulatereport

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/leasewarden/leasewarden/simulate"
)

// Report is a scenario and what came of it.
type Report struct {
	Scenario *simulate.Scenario `json:"scenario"`
	Results  []*simulate.Result `json:"results"`
}

// JSON writes the report as one object.
func JSON(w io.Writer, r *Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// Table writes the comparison for people.
func Table(w io.Writer, r *Report) error {
	for _, line := range heading(r) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows(r) {
		fmt.Fprintln(t, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	return t.Flush()
}

// heading says what was played.
func heading(r *Report) []string {
	s := r.Scenario
	lines := []string{fmt.Sprintf("Lease %s, %d replicas, %d runs of %s", s.Lease, len(s.Replicas), r.Results[0].Runs, s.Duration.Duration)}
	if s.Description != "" {
		lines = append(lines, s.Description)
	}
	return lines
}

// rows compare the contenders, one in each column.
func rows(r *Report) [][]string {
	table := [][]string{{""}}
	for _, x := range r.Results {
		table[0] = append(table[0], strings.ToUpper(x.Contender))
	}
	add := func(title string, cell func(*simulate.Result) string) {
		row := []string{title}
		for _, x := range r.Results {
			row = append(row, cell(x))
		}
		table = append(table, row)
	}
	add("changes of the leader", func(x *simulate.Result) string { return fmt.Sprintf("%.2f", x.Changes) })
	add("  at most", func(x *simulate.Result) string { return fmt.Sprint(x.MaxChanges) })
	add("seconds without a leader", func(x *simulate.Result) string { return fmt.Sprintf("%.1f", x.Vacant) })
	add("  at most", func(x *simulate.Result) string { return fmt.Sprintf("%.1f", x.MaxVacant) })
	add("  longest time", func(x *simulate.Result) string { return fmt.Sprintf("%.1f", x.Longest) })
	if r.Results[0].SkewedRuns != nil {
		add("runs that violate skew", func(x *simulate.Result) string {
			return fmt.Sprintf("%.1f %%", 100*float64(*x.SkewedRuns)/float64(x.Runs))
		})
		add("  seconds", func(x *simulate.Result) string { return fmt.Sprintf("%.1f", *x.Skewed) })
	}
	add("attempts refused", func(x *simulate.Result) string { return fmt.Sprintf("%.1f", x.Refused) })
	if both(r) {
		add("seconds of two leaders", func(x *simulate.Result) string { return fmt.Sprintf("%.1f", x.Both) })
	}
	return table
}

func both(r *Report) bool {
	for _, x := range r.Results {
		if x.Both > 0 {
			return true
		}
	}
	return false
}
