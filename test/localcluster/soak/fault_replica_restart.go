package main

import "context"

// restartReplica has one replica of Leasewarden end in order, and starts it again.
var restartReplica = &fault{
	name: "leasewarden: one restarted", election: true, blind: true, bound: withDeadline,
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return s.startReplicas(ctx, s.replica) }, s.stopReplicas(ctx, s.replica)
	},
}
