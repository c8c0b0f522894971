package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// options are the command line's.
type options struct {
	rounds               int
	rows                 string
	quick                bool
	markdown, json, plot string
	out                  io.Writer
}

// sizes are how much is measured.
type sizes struct {
	rounds int
	// renewals and acquires are measured in a row before the next variant's turn.
	renewals, acquires int
	// policies are the many that a renewal is measured with.
	policies int
	// load is how long a webhook is asked in a row.
	load time.Duration
	// steady is how many Leases are renewed, window how long one looks at it.
	steady int
	window time.Duration
	// few and many are the governed Leases that memory is measured with, others
	// the Pods that nobody governs.
	few    []int
	many   int
	others int
	// herd is how many Leases are vacant at once, herds how often.
	herd, herds int
	// events is how long the cost of an event is measured, as a flag of go test.
	events string
	// elections are those that API writes are counted of.
	elections int
}

func (o *options) sizes() sizes {
	if o.quick {
		return sizes{
			rounds: min(o.rounds, 2), renewals: 50, acquires: 20, policies: 5, load: 200 * time.Millisecond,
			steady: 20, window: 3 * time.Second, few: []int{20, 40}, many: 60, others: 100, herd: 40, herds: 1, events: "20x", elections: 2,
		}
	}
	return sizes{
		rounds: o.rounds, renewals: 400, acquires: 200, policies: 100, load: 2 * time.Second,
		steady: 1000, window: 30 * time.Second, few: []int{2500, 5000}, many: 10000, others: 100_000, herd: 5000, herds: 3, events: "100ms", elections: 5,
	}
}

// row is a part of the measurement.
type row struct {
	// numbers are those of the table's rows that it fills.
	numbers []string
	title   string
	measure func(ctx context.Context, b *bench) error
}

// rows are in the order in which they are measured: the cluster grows.
var rows = []row{
	{[]string{"3"}, "rulings per second", measureRulings},
	{[]string{"1"}, "renewals", measureRenewals},
	{[]string{"2"}, "acquires", measureAcquires},
	{[]string{"4", "7"}, "steady state", measureSteady},
	{[]string{"5"}, "memory and start, growing", measureGrowth},
	{[]string{"6"}, "herd", measureHerd},
	{[]string{"5"}, "memory and start, many", measureScale},
	{[]string{"8"}, "cost of an event", measureEvents},
	{[]string{"9"}, "API writes of an election", measureElections},
}

// chosen are the rows with one of these numbers.
func (o *options) chosen() ([]row, error) {
	if o.rounds < 1 {
		return nil, fmt.Errorf("--rounds is %d: give a number of at least 1", o.rounds)
	}
	if o.rows == "" {
		return rows, nil
	}
	var all []row
	for _, number := range strings.Split(o.rows, ",") {
		if !slices.ContainsFunc(rows, func(r row) bool { return slices.Contains(r.numbers, number) }) {
			return nil, fmt.Errorf("--rows %q: there is no row %q, give some of 1 to 9, such as 1,2", o.rows, number)
		}
	}
	for _, r := range rows {
		if slices.ContainsFunc(strings.Split(o.rows, ","), func(number string) bool { return slices.Contains(r.numbers, number) }) {
			all = append(all, r)
		}
	}
	return all, nil
}

// run measures, prints the tables and writes the files. On an error, they have
// what was measured before.
func run(ctx context.Context, o *options) error {
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	b, err := up(ctx, o)
	if err != nil {
		return err
	}
	err = b.measure(ctx, chosen)
	b.reportCurves() // also of what was measured before an error
	b.report.finish()
	return errors.Join(err, b.cluster.Stop(), b.report.write(o))
}

func (b *bench) measure(ctx context.Context, chosen []row) error {
	for i, r := range chosen {
		fmt.Fprintf(b.out, "\n==> %d of %d: %s (row %s)\n", i+1, len(chosen), r.title, strings.Join(r.numbers, ", "))
		started := time.Now()
		if err := r.measure(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", r.title, err)
		}
		fmt.Fprintf(b.out, "    done after %s\n", time.Since(started).Round(time.Second))
	}
	return nil
}

// say prints progress.
func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.out, "    "+format+"\n", args...) }

// write prints the tables and writes the files that were asked for.
func (r *report) write(o *options) error {
	if len(r.Figures) == 0 {
		return nil
	}
	fmt.Fprintln(o.out)
	r.table(o.out)
	var errs []error
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{{o.markdown, r.asMarkdown}, {o.json, r.asJSON}, {o.plot, r.asSVG}} {
		if f.path != "" {
			errs = append(errs, writeFile(f.path, f.write))
		}
	}
	return errors.Join(errs...)
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
