package main

import (
	"bytes"
	"context"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// until waits until done, and looks often.
func until(ctx context.Context, limit time.Duration, done func() bool) error {
	return wait.PollUntilContextTimeout(ctx, look, limit, true, func(context.Context) (bool, error) { return done(), nil })
}

// sleep waits, but not longer than ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// lastLine is the last line of a log.
func lastLine(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(lines[len(lines)-1])
}
