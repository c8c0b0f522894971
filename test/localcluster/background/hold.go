package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// statePeriod is how often the holder looks at its processes for its state file.
const statePeriod = time.Second

// Hold starts the named cluster, does in it what then says, and holds it until
// SIGTERM or SIGINT. It is what the process in the background does; Up starts
// that, and returns once then has returned.
func Hold(name string, options localcluster.Options, then ...func(context.Context, *localcluster.Cluster) error) error {
	d, err := open(name)
	if err != nil {
		return err
	}
	lock := d.lock()
	locked, err := lock.TryLock()
	if err != nil {
		return err
	}
	if !locked {
		return errors.New("the local cluster is up already")
	}
	defer func() { _ = lock.Unlock() }()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()

	options.Dir = d.cluster()
	cluster, err := localcluster.Start(ctx, options)
	if err != nil {
		return errors.Join(err, d.write(State{PID: os.Getpid(), Error: err.Error()}))
	}
	for _, do := range then {
		if err := do(ctx, cluster); err != nil {
			return errors.Join(err, cluster.Stop(), d.write(State{PID: os.Getpid(), Error: err.Error()}))
		}
	}
	state := State{PID: os.Getpid(), Kubeconfig: cluster.Kubeconfig(), AuditLog: cluster.AuditLog(), Started: time.Now()}
	ticker := time.NewTicker(statePeriod)
	defer ticker.Stop()
	for {
		state.Processes = cluster.Status()
		if err := d.write(state); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return cluster.Stop()
		}
	}
}
