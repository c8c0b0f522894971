package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// away is how long a component of the control plane is away.
var away = [2]time.Duration{time.Second, 14 * time.Second}

// killed has a component end by SIGKILL, and started again later.
func killed(component string) func(context.Context, *scene) (func(context.Context) error, error) {
	return func(_ context.Context, s *scene) (func(context.Context) error, error) {
		return startAgain(s, component), s.take([]string{component}, func() error {
			return s.site.cluster.SignalComponent(component, syscall.SIGKILL)
		})
	}
}

// orderly is how long a component may take to end in order: the API server waits
// for what it is still answering.
const orderly = 70 * time.Second

// restarted has a component end in order, and started again.
func restarted(component string) func(context.Context, *scene) (func(context.Context) error, error) {
	return func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		return startAgain(s, component), s.take([]string{component}, func() error {
			if err := s.site.cluster.SignalComponent(component, syscall.SIGTERM); err != nil {
				return err
			}
			if err := until(ctx, orderly, func() bool { return s.pid(component) == 0 }); err != nil {
				return fmt.Errorf("%s was asked to end, and has not within %s: %w", component, orderly, err)
			}
			return nil
		})
	}
}

func startAgain(s *scene, component string) func(context.Context) error {
	return func(ctx context.Context) error {
		return s.bring([]string{component}, func() error { return s.site.cluster.StartComponent(ctx, component) })
	}
}

// paused has a component hang.
func paused(component string) func(context.Context, *scene) (func(context.Context) error, error) {
	return func(_ context.Context, s *scene) (func(context.Context) error, error) {
		return func(context.Context) error { return s.site.cluster.SignalComponent(component, syscall.SIGCONT) },
			s.site.cluster.SignalComponent(component, syscall.SIGSTOP)
	}
}
