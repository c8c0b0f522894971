package main

import (
	"context"
	"time"
)

// pauseLeader has a leader stand still, often for longer than its term.
var pauseLeader = &fault{
	name: "leader paused", hold: [2]time.Duration{3 * time.Second, 30 * time.Second}, bound: withDeadline,
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		pod, err := s.leader(ctx)
		if err != nil {
			return nil, err
		}
		return s.standStill(pod)
	},
}

// standStill pauses the Pod, and returns what has it go on.
func (s *scene) standStill(pod string) (func(context.Context) error, error) {
	goOn, err := s.pause(s.contest, pod)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error {
		goOn()
		return nil
	}, nil
}
