package main

import (
	"context"
	"syscall"
	"time"
)

// pauseReplicas has all replicas of Leasewarden hang.
var pauseReplicas = &fault{
	name: "leasewarden: both paused", hold: [2]time.Duration{3 * time.Second, 20 * time.Second},
	election: true, blind: true, bound: withDeadline,
	inject: func(_ context.Context, s *scene) (func(context.Context) error, error) {
		return func(context.Context) error { return s.signalReplicas(syscall.SIGCONT, 0, 1) },
			s.signalReplicas(syscall.SIGSTOP, 0, 1)
	},
}
