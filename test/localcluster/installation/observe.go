package installation

import (
	"context"
	"fmt"
	"time"
)

// stopGrace is how long a replica may take to end by itself.
const stopGrace = 20 * time.Second

// PID is that of the process, 0 if it does not run.
func (r *Replica) PID() int {
	if !r.Running() {
		return 0
	}
	return r.process.PID()
}

// Stop ends the process as a rollout does, so that it gives its leadership up.
func (r *Replica) Stop() {
	if r.Running() {
		r.process.Stop(stopGrace)
	}
}

// AwaitReady waits until the process is ready.
func (r *Replica) AwaitReady(ctx context.Context) error { return r.awaitReady(ctx) }

// Webhook is the address and port of the replica's own webhook.
func (r *Replica) Webhook() string { return fmt.Sprintf("localhost:%d", r.webhook) }

// Metrics is the URL of its metrics.
func (r *Replica) Metrics() string { return fmt.Sprintf("http://127.0.0.1:%d/metrics", r.metrics) }
