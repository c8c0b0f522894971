package main

import "context"

// killFollower kills a candidate that does not lead.
var killFollower = &fault{
	name: "follower killed",
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		pod, err := s.follower(ctx)
		if err != nil {
			return nil, err
		}
		return nil, s.kill(pod)
	},
}
