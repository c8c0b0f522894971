package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// options are the command line's.
type options struct {
	rounds         int
	only           string
	markdown, json string
	out            io.Writer
}

func (o *options) validate() error {
	if o.rounds < 1 {
		return fmt.Errorf("--rounds is %d: give a number of at least 1", o.rounds)
	}
	if len(chosen(o.only)) == 0 {
		return fmt.Errorf("--only %q: none of %s has that text", o.only, strings.Join(names(), ", "))
	}
	return nil
}

// run measures all, prints the table and writes the files.
func run(ctx context.Context, o *options) error {
	if err := o.validate(); err != nil {
		return err
	}
	b, err := up(ctx, o.out)
	if err != nil {
		return err
	}
	report, err := b.measureAll(ctx, o)
	return errors.Join(err, b.cluster.Stop(), report.write(o))
}

// measureAll measures one scenario after the other. On an error, the report has
// what was measured before.
func (b *bench) measureAll(ctx context.Context, o *options) (*report, error) {
	r := newReport(o.rounds)
	scenarios := chosen(o.only)
	for i, s := range scenarios {
		fmt.Fprintf(o.out, "\n==> %d of %d: %s\n", i+1, len(scenarios), s.title)
		started := time.Now()
		result, err := b.measure(ctx, s, o)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s.title, err)
		}
		fmt.Fprintf(o.out, "    done after %s\n", time.Since(started).Round(time.Second))
		r.add(result)
	}
	return r, nil
}

// write prints the table and writes the files that were asked for.
func (r *report) write(o *options) error {
	if len(r.Figures) == 0 {
		return nil
	}
	r.finish()
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
	return errors.Join(errs...)
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
