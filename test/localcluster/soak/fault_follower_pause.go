package main

import (
	"context"
	"time"
)

// pauseFollower has a candidate stand still, and lets the leader go meanwhile: the
// candidate may be the chosen one.
var pauseFollower = &fault{
	name: "follower paused", hold: [2]time.Duration{10 * time.Second, 30 * time.Second},
	election: true, same: true, bound: withDeadline,
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		pod, err := s.follower(ctx)
		if err != nil {
			return nil, err
		}
		return s.standStill(pod)
	},
}
