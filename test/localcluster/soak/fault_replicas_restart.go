package main

import "context"

// restartReplicas has all replicas of Leasewarden end in order, and starts them
// again.
var restartReplicas = &fault{
	name: "leasewarden: both restarted", election: true, blind: true, bound: withDeadline,
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return s.startReplicas(ctx, 0, 1) }, s.stopReplicas(ctx, 0, 1)
	},
}
