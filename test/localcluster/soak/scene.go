package main

import (
	"context"
	"fmt"
	"time"
)

// scene is what a fault happens to: who is drawn in advance, so that the schedule
// is the seed's alone.
type scene struct {
	*site
	*observer
	*keeper
	journal *journal
	// contest is the Lease whose electors are meant, where it is those of one.
	contest *contest
	// replica is the replica of Leasewarden that is meant.
	replica int
	// pick is which of several electors is meant, from 0 to 1.
	pick float64
}

// patience bounds the wait for somebody to do something to.
const patience = time.Minute

// leader waits for the Pod that leads.
func (s *scene) leader(ctx context.Context) (pod string, err error) {
	err = until(ctx, patience, func() bool {
		pod = s.observer.leader(s.contest)
		return pod != ""
	})
	if err != nil {
		return "", fmt.Errorf("nobody leads %s to do something to: %w", s.contest.name, err)
	}
	return pod, nil
}

// follower waits for a Pod that runs and does not lead.
func (s *scene) follower(ctx context.Context) (pod string, err error) {
	err = until(ctx, patience, func() bool {
		leader := s.observer.leader(s.contest)
		var others []string
		for _, p := range s.electors(s.contest) {
			if p != leader {
				others = append(others, p)
			}
		}
		if leader == "" || len(others) == 0 {
			return false
		}
		pod = others[int(s.pick*float64(len(others)))]
		return true
	})
	if err != nil {
		return "", fmt.Errorf("nobody follows in %s to do something to: %w", s.contest.name, err)
	}
	return pod, nil
}

// kill kills an elector. The kubelet starts another one in its place.
func (s *scene) kill(pod string) error {
	s.journal.add(time.Now(), s.contest.name, "%s is killed", pod)
	_, err := s.site.cluster.KillContainer(namespace, pod, container)
	return err
}
