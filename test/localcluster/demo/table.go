package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printTable compares the two rounds.
func printTable(out io.Writer, without, with *tally) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "  \tno policy\tOldestEmulationVersion")
	fmt.Fprintf(w, "  leader changes\t%d\t%d\n", without.changes, with.changes)
	fmt.Fprintf(w, "  seconds without a leader\t%.1f\t%.1f\n", without.vacant.Seconds(), with.vacant.Seconds())
	fmt.Fprintf(w, "  newer took over while older ran\t%d\t%d\n", without.skews, with.skews)
	w.Flush()
}
