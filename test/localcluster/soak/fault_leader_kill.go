package main

import "context"

// killLeader kills a leader. It releases nothing.
var killLeader = &fault{
	name: "leader killed",
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		pod, err := s.leader(ctx)
		if err != nil {
			return nil, err
		}
		return nil, s.kill(pod)
	},
}
