package main

import "context"

// deleteFollower deletes the Pod of a candidate that does not lead.
var deleteFollower = &fault{
	name: "follower's Pod deleted",
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		pod, err := s.follower(ctx)
		if err != nil {
			return nil, err
		}
		return nil, s.remove(ctx, pod)
	},
}
