package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxLanes is how many lanes of a contender are measured at once. More of them
// would measure each other.
const maxLanes = 5

// measurement is one scenario being measured.
type measurement struct {
	*bench
	*scenario
	rounds int
	// done counts the rounds of each contender.
	done map[*contender]*atomic.Int64

	mu     sync.Mutex
	values map[*contender][][]float64
	err    error
}

// measure plays a scenario for all contenders at once.
func (b *bench) measure(ctx context.Context, s *scenario, o *options) (*measurement, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &measurement{bench: b, scenario: s, rounds: o.rounds, done: map[*contender]*atomic.Int64{}, values: map[*contender][][]float64{}}
	var playing sync.WaitGroup
	for _, c := range s.contenders() {
		left := &atomic.Int64{}
		left.Store(int64(o.rounds))
		m.done[c] = &atomic.Int64{}
		for range min(maxLanes, o.rounds) {
			playing.Go(func() {
				if err := m.play(ctx, c, left); err != nil {
					m.failed(err)
					cancel()
				}
			})
		}
	}
	stop := m.sayHowFar(o.out)
	playing.Wait()
	stop()
	return m, m.err
}

// play plays rounds on one lane as long as some are left.
func (m *measurement) play(ctx context.Context, c *contender, left *atomic.Int64) error {
	l, err := m.newLane(ctx, c)
	if err != nil {
		return err
	}
	if err := m.prepare(ctx, l); err != nil {
		return err
	}
	for left.Add(-1) >= 0 {
		values, err := m.round(ctx, l)
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.values[c] = append(m.values[c], values)
		m.mu.Unlock()
		m.done[c].Add(1)
	}
	if err := l.neverTwo(); err != nil {
		return err
	}
	return l.remove(ctx)
}

// failed keeps the first error: the others follow from it.
func (m *measurement) failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
}

// sayHowFar prints how many rounds are done, now and then.
func (m *measurement) sayHowFar(out io.Writer) (stop func()) {
	ticker, done := time.NewTicker(10*time.Second), make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				var parts []string
				for _, c := range m.contenders() {
					parts = append(parts, fmt.Sprintf("%s %d/%d", c.name, m.done[c].Load(), m.rounds))
				}
				fmt.Fprintln(out, "    rounds done: "+strings.Join(parts, ", "))
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		running.Wait()
	}
}
