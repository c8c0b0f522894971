package main

import (
	"context"
	"time"
)

// killReplica kills one replica of Leasewarden.
var killReplica = &fault{
	name: "leasewarden: one killed", hold: [2]time.Duration{2 * time.Second, 18 * time.Second},
	election: true, blind: true, bound: withDeadline,
	inject: func(_ context.Context, s *scene) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return s.startReplicas(ctx, s.replica) }, s.killReplicas(s.replica)
	},
}
