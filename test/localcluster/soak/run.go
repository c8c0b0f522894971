package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// options are the command line's.
type options struct {
	seed               uint64
	duration           time.Duration
	faults             string
	keep               bool
	markdown, json     string
	out                io.Writer
	repository, module string
}

func (o *options) validate() error {
	if o.duration <= 0 {
		return fmt.Errorf("--duration is %s: give a time above 0, such as 30m", o.duration)
	}
	if len(chosen(o.faults)) == 0 {
		return fmt.Errorf("--faults %q: none of the faults has that text: %s", o.faults, strings.Join(names(faults), "; "))
	}
	return nil
}

// run soaks, prints the table and writes the files. What was found is an error.
func run(ctx context.Context, o *options) error {
	if err := o.validate(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "leasewarden-soak-")
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "seed %d: repeat with --seed %[1]d --duration %s\n", o.seed, o.duration)
	r, err := soak(ctx, o, dir)
	if r != nil {
		err = errors.Join(err, r.write(o))
	}
	if err != nil || o.keep {
		return errors.Join(err, keptLogs(o.out, dir))
	}
	return os.RemoveAll(dir)
}

func keptLogs(out io.Writer, dir string) error {
	_, err := fmt.Fprintf(out, "\nAll logs, and what happened when (journal.txt), are in %s\n", dir)
	return err
}

// soak starts everything, plays what was drawn, and judges it. Without an error
// nothing has stopped it, whatever was found.
func soak(ctx context.Context, o *options, dir string) (r *report, err error) {
	site, err := up(ctx, o, filepath.Join(dir, "cluster"))
	if err != nil {
		return nil, err
	}
	j := &journal{}
	stop := func() error {
		return errors.Join(site.cluster.Stop(), writeFile(filepath.Join(dir, "journal.txt"), j.write))
	}
	defer func() {
		err = errors.Join(err, stop())
		if r != nil {
			r.readLogs(site)
		}
	}()
	return soakOn(ctx, o, site, j)
}

func soakOn(ctx context.Context, o *options, site *site, j *journal) (*report, error) {
	s := &scene{site: site, observer: newObserver(site, j), keeper: newKeeper(site, j), journal: j}
	probe, memory := &probe{site: site}, &memory{keeper: s.keeper}
	if err := site.deploy(ctx); err != nil {
		return nil, err
	}
	watching, stop := newWatching(ctx)
	defer stop()
	watching.start(s.observer.watch)
	fmt.Fprintln(o.out, "==> Waiting until all electors run and all leaders are as the policies say")
	missing, err := s.settle(watching.ctx)
	if err != nil || len(missing) > 0 {
		return nil, errors.Join(watching.failed(), err, fmt.Errorf("the soak cannot begin: %s", strings.Join(missing, "; ")))
	}
	watching.start(s.keeper.watch)
	watching.start(probe.watch)
	watching.start(memory.watch)
	r := newReport(o)
	acts, err := s.playAll(watching.ctx, o, probe)
	now := time.Now()
	stop()
	if failed := watching.failed(); failed != nil { // the rest follows from it
		err = failed
	}
	for _, p := range acts {
		s.judge(p, probe, now)
	}
	r.fill(s, acts, probe, memory, now)
	return r, err
}

// playAll plays acts until the time is over.
func (s *scene) playAll(ctx context.Context, o *options, probe *probe) ([]*played, error) {
	fmt.Fprintf(o.out, "==> Soaking for %s\n", o.duration)
	schedule := newSchedule(o.seed, chosen(o.faults))
	var acts []*played
	began := time.Now()
	for from := began; time.Since(began) < o.duration; from = acts[len(acts)-1].To {
		a := schedule.next()
		p, err := s.play(ctx, a, from)
		if err != nil {
			return acts, fmt.Errorf("%s: %w", a.fault.name, err)
		}
		acts = append(acts, p)
		s.judge(p, probe, time.Now())
		fmt.Fprintln(o.out, p.line(time.Since(began), len(acts)))
	}
	return acts, nil
}

// line is what is said as soon as an act is over.
func (p *played) line(since time.Duration, n int) string {
	text := fmt.Sprintf("%5s %3d  %-30s settled %3.0fs", clock(since), n, p.fault.name, p.settled.Seconds())
	if worst, lease := p.worst(); worst > 0 {
		text += fmt.Sprintf(", vacant %4.1fs %s", worst.Seconds(), lease)
	}
	for _, seen := range p.seen {
		text += "\n      ! " + seen
	}
	return text
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// watching runs what goes on in the background, and ends all if one fails.
type watching struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	err    error
}

// newWatching returns what stops them, and waits until they have.
func newWatching(ctx context.Context) (*watching, func()) {
	w := &watching{}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w, func() {
		w.cancel()
		w.done.Wait()
	}
}

func (w *watching) start(watch func(context.Context) error) {
	w.done.Go(func() {
		if err := watch(w.ctx); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.err = errors.Join(w.err, err)
			w.cancel()
		}
	})
}

func (w *watching) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
