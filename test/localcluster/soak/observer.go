package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

// look is how often the observer looks for processes and for what they said.
const look = 100 * time.Millisecond

// observer reads what all electors say of themselves, from the host: it needs no
// API server. A run of a container is known by its log.
type observer struct {
	*site
	journal *journal

	mu   sync.Mutex
	runs map[string]*sighting
}

// sighting is one run of one elector, as it is followed.
type sighting struct {
	belief.Life
	contest  *contest
	pod      string
	log      *tail
	reader   *belief.Reader
	followed bool // until its end
}

func newObserver(s *site, j *journal) *observer {
	return &observer{site: s, journal: j, runs: map[string]*sighting{}}
}

// watch looks until ctx ends.
func (o *observer) watch(ctx context.Context) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		if err := o.see(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// see takes up what is new.
func (o *observer) see() error {
	logs, err := o.cluster.ContainerLogs(namespace)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, path := range logs {
		r := o.runs[path]
		if r == nil {
			if r = newSighting(path); r == nil {
				continue
			}
			o.runs[path] = r
		}
		if err := o.read(r); err != nil {
			return err
		}
		o.follow(path, r)
	}
	return nil
}

// newSighting is that of a run whose log is .../NAMESPACE_POD_UID/CONTAINER/N.log,
// nil if it is not an elector's.
func newSighting(path string) *sighting {
	dir := strings.Split(filepath.Base(filepath.Dir(filepath.Dir(path))), "_")
	if len(dir) != 3 {
		return nil
	}
	c := contestOf(dir[1])
	if c == nil {
		return nil
	}
	number := strings.TrimSuffix(filepath.Base(path), ".log")
	return &sighting{
		Life:    belief.Life{Name: dir[1] + "#" + number, Started: time.Now()},
		contest: c, pod: dir[1], log: &tail{path: path}, reader: c.reader(time.Now().UTC().Year()),
	}
}

func (o *observer) read(r *sighting) error {
	lines, err := r.log.lines()
	for _, line := range lines {
		e, ok := r.reader.Line(line)
		if !ok {
			continue
		}
		r.Events = append(r.Events, e)
		switch e.Kind {
		case belief.Leads:
			o.journal.add(e.At, r.contest.name, "%s says that it leads", r.Name)
		case belief.Stops:
			o.journal.add(e.At, r.contest.name, "%s says that it leads no more", r.Name)
		}
	}
	return err
}

// settledStart is how long a run may take until its process can be found.
const settledStart = 2 * time.Second

// follow finds the process of a run, and waits for its end from then on.
func (o *observer) follow(path string, r *sighting) {
	if r.followed || !r.Ended.IsZero() {
		return
	}
	if pid, err := o.process(path, r.pod); err == nil {
		if end, err := waitForEnd(pid); err == nil {
			r.followed = true
			go func() {
				at := <-end
				o.mu.Lock()
				defer o.mu.Unlock()
				o.ended(r, at)
			}()
			return
		}
	}
	if time.Since(r.Started) > settledStart { // it ended before it was found
		o.ended(r, later(r.log.changed, r.Started))
	}
}

// process is that of the run whose log it is.
func (o *observer) process(path, pod string) (int, error) {
	pid, err := o.cluster.PodProcess(namespace, pod, container)
	if err != nil {
		return 0, err
	}
	current, err := o.cluster.ContainerLog(namespace, pod, container)
	if err == nil && current != path {
		err = fmt.Errorf("the process of %s is that of another run", pod)
	}
	return pid, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (o *observer) ended(r *sighting, at time.Time) {
	r.Ended = at
	o.journal.add(at, r.contest.name, "%s has ended", r.Name)
}

// lease is what the electors of a contest believe until now.
func (o *observer) lease(c *contest, now time.Time) *belief.Lease {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lives []*belief.Life
	for _, r := range o.runs {
		if r.contest == c {
			lives = append(lives, new(r.Life)) // what comes later is not to change it
		}
	}
	return belief.Judge(lives, now)
}

// leader is the Pod that leads now by its own word, "" if none does.
func (o *observer) leader(c *contest) string {
	if life := o.lease(c, time.Now()).Leader(); life != nil {
		pod, _, _ := strings.Cut(life.Name, "#")
		return pod
	}
	return ""
}

// electors are the Pods of a contest whose electors run and are not paused, in the
// order of their names.
func (o *observer) electors(c *contest) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var pods []string
	for _, r := range o.runs {
		paused := len(r.Pauses) > 0 && r.Pauses[len(r.Pauses)-1].To.IsZero()
		if r.contest == c && r.followed && r.Ended.IsZero() && !paused {
			pods = append(pods, r.pod)
		}
	}
	slices.Sort(pods)
	return pods
}

// pause stops the Pod's process as it is, and notes that it cannot act. What it
// returns has it go on.
func (o *observer) pause(c *contest, pod string) (goOn func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var r *sighting
	for _, s := range o.runs {
		if s.pod == pod && s.followed && s.Ended.IsZero() {
			r = s
		}
	}
	if r == nil {
		return nil, fmt.Errorf("pod %s does not run", pod)
	}
	if err := o.cluster.Signal(namespace, pod, container, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	// Not before it does stand still, and not longer than it does for certain.
	r.Pauses = append(r.Pauses, belief.Span{From: time.Now()})
	o.journal.add(time.Now(), c.name, "%s is paused", r.Name)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		r.Pauses[len(r.Pauses)-1].To = time.Now()
		o.journal.add(time.Now(), c.name, "%s goes on", r.Name)
		// It may have been killed meanwhile, which is its end.
		_ = o.cluster.Signal(namespace, pod, container, syscall.SIGCONT)
	}, nil
}
