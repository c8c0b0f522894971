package main

import (
	"context"
	"errors"
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
	// stalled counts the rounds that did not come to an end.
	stalled map[*contender]int
	err     error
}

// measure plays a scenario for all contenders at once.
func (b *bench) measure(ctx context.Context, s *scenario, o *options) (*measurement, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &measurement{
		bench: b, scenario: s, rounds: o.rounds, done: map[*contender]*atomic.Int64{},
		values: map[*contender][][]float64{}, stalled: map[*contender]int{},
	}
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

// play plays rounds on one lane as long as some are left. A round of others than
// Leasewarden that does not come to an end is counted, and played no further.
func (m *measurement) play(ctx context.Context, c *contender, left *atomic.Int64) error {
	var l *lane
	for left.Add(-1) >= 0 {
		values, err := m.playRound(ctx, c, &l)
		switch {
		case errors.Is(err, errStalled) && !c.governed:
			m.note(func() { m.stalled[c]++ })
			l = nil
		case err != nil:
			return err
		default:
			m.note(func() { m.values[c] = append(m.values[c], values) })
		}
		m.done[c].Add(1)
	}
	if l == nil {
		return nil
	}
	if err := l.neverTwo(); err != nil {
		return err
	}
	return l.remove(ctx)
}

// playRound plays one round on the lane, or on a new one if there is none.
func (m *measurement) playRound(ctx context.Context, c *contender, l **lane) ([]float64, error) {
	if *l == nil {
		made, err := m.newLane(ctx, c)
		if err != nil {
			return nil, err
		}
		*l = made
		if err := m.prepare(ctx, made); err != nil {
			return nil, err
		}
	}
	return m.round(ctx, *l)
}

// note changes what was measured.
func (m *measurement) note(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// failed keeps the first error: the others follow from it.
func (m *measurement) failed(err error) {
	m.note(func() {
		if m.err == nil {
			m.err = err
		}
	})
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
