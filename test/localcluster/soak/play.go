package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

// played is an act and what was seen of it.
type played struct {
	*act
	belief.Span
	// outages are when nobody could elect.
	outages []belief.Span
	// settled is how long it took, from the end of the fault, until all was as it
	// should be.
	settled time.Duration
	// seen are violations: what is not to be, whoever leads.
	seen []string
	// unruled are attempts of the probe that nobody has ruled on, and failed the
	// calls that the API server tells of, though nothing was in the way.
	unruled, failed []failure
	// vacancies are those that began meanwhile, by the name of the Lease.
	vacancies map[string][]belief.Vacancy
	// changes counts the leaders that were others than those before.
	changes int
}

// play has the fault happen, and waits until all is as it should be again.
// What is seen from that moment on is the act's.
func (s *scene) play(ctx context.Context, a *act, from time.Time) (*played, error) {
	s.contest, s.replica, s.pick = a.contest, a.replica, a.pick
	p := &played{act: a, Span: belief.Span{From: from}}
	before, err := s.site.webhookFailures(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.roll(ctx, a.rolled, true); err != nil {
		return nil, err
	}
	if err := sleep(ctx, a.delay); err != nil {
		return nil, err
	}
	if err := s.happen(ctx, p); err != nil {
		return nil, err
	}
	over := time.Now()
	missing, err := s.settle(ctx)
	if err != nil {
		return nil, err
	}
	p.To = time.Now()
	p.settled = p.To.Sub(over)
	for _, text := range missing {
		p.seen = append(p.seen, fmt.Sprintf("not as it should be %s after the fault: %s", settling, text))
	}
	if !a.fault.blind {
		after, err := s.site.webhookFailures(ctx)
		if err != nil {
			return nil, err
		}
		if p.failed, err = s.site.failedCalls(p.Span); err != nil {
			return nil, err
		}
		// What the log does not tell of is a violation, whatever it was.
		if grown := more(before, after); len(grown) > 0 && len(p.failed) == 0 {
			p.seen = append(p.seen, "the API server counts failed calls: "+strings.Join(grown, ", "))
		}
	}
	return p, nil
}

// happen injects the fault and takes it back.
func (s *scene) happen(ctx context.Context, p *played) error {
	a := p.act
	began := time.Now()
	s.journal.add(began, "fault", "%s, for %s", a.fault.name, a.hold.Round(time.Millisecond))
	undo, err := a.fault.inject(ctx, s)
	if err != nil {
		p.seen = append(p.seen, fmt.Sprintf("%s: could not be done: %v", a.fault.name, err))
	}
	if err := sleep(ctx, a.meanwhile); err != nil {
		return errors.Join(err, takeBack(ctx, undo))
	}
	if a.fault.election {
		if err := s.killLeaderOf(a.elected); err != nil {
			return errors.Join(err, takeBack(ctx, undo))
		}
	}
	err = sleep(ctx, time.Until(began.Add(a.hold)))
	if err := errors.Join(err, takeBack(ctx, undo)); err != nil {
		return err
	}
	over := time.Now()
	s.journal.add(over, "fault", "%s is over", a.fault.name)
	if a.fault.outage {
		p.outages = append(p.outages, belief.Span{From: began, To: over})
	}
	return nil
}

func takeBack(ctx context.Context, undo func(context.Context) error) error {
	if undo == nil {
		return nil
	}
	return undo(ctx)
}

// killLeaderOf kills the leader of that contest, if anybody leads.
func (s *scene) killLeaderOf(c *contest) error {
	pod := s.observer.leader(c)
	if pod == "" {
		return nil
	}
	s.journal.add(time.Now(), c.name, "%s is killed", pod)
	if _, err := s.site.cluster.KillContainer(namespace, pod, container); err != nil {
		s.journal.add(time.Now(), c.name, "%s could not be killed: %v", pod, err)
	}
	return nil
}

// judge looks at what the electors believed while the act was played.
func (s *scene) judge(p *played, probe *probe, now time.Time) {
	p.vacancies, p.changes = map[string][]belief.Vacancy{}, 0
	for _, c := range contests {
		lease := s.lease(c, now)
		p.changes += lease.Changes(p.Span)
		p.vacancies[c.name] = lease.Vacancies(p.Span, p.outages)
	}
	if !p.fault.blind {
		p.unruled = probe.failed(p.Span)
	}
}

// worst is the longest vacancy, and of which Lease.
func (p *played) worst() (worst time.Duration, lease string) {
	for _, c := range contests {
		for _, v := range p.vacancies[c.name] {
			if v.Waited > worst {
				worst, lease = v.Waited, c.name
			}
		}
	}
	return worst, lease
}
