package main

import (
	"context"
	"syscall"
	"time"
)

// pauseReplica has one replica of Leasewarden take connections and not answer.
var pauseReplica = &fault{
	name: "leasewarden: one paused", hold: [2]time.Duration{3 * time.Second, 20 * time.Second},
	election: true, blind: true, bound: withDeadline,
	inject: func(_ context.Context, s *scene) (func(context.Context) error, error) {
		return func(context.Context) error { return s.signalReplicas(syscall.SIGCONT, s.replica) },
			s.signalReplicas(syscall.SIGSTOP, s.replica)
	},
}
