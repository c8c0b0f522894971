package main

import (
	"context"
	"time"
)

// killReplicas kills all replicas of Leasewarden at once.
var killReplicas = &fault{
	name: "leasewarden: both killed", hold: [2]time.Duration{2 * time.Second, 18 * time.Second},
	election: true, blind: true, bound: withDeadline,
	inject: func(_ context.Context, s *scene) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return s.startReplicas(ctx, 0, 1) }, s.keeper.killReplicas(0, 1)
	},
}
