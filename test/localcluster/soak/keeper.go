package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// restartDelay is how long what ended by itself stays down: the first restart of
// a container takes about as long.
const restartDelay = time.Second

// stopGrace is how long a process may take to end when it is asked to.
const stopGrace = 15 * time.Second

// keeper does for the processes that are not in Pods what a kubelet does: one that
// ended by itself is started again. What a fault has taken down stays down.
type keeper struct {
	*site
	journal *journal

	mu   sync.Mutex
	down map[string]bool
	// byThemselves are those that ended without being asked to.
	byThemselves []string
}

func newKeeper(s *site, j *journal) *keeper {
	return &keeper{site: s, journal: j, down: map[string]bool{}}
}

// watch keeps the processes up until ctx ends.
func (k *keeper) watch(ctx context.Context) error {
	ticker := time.NewTicker(restartDelay)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := k.restart(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// restart starts what has ended by itself.
func (k *keeper) restart(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, r := range k.warden.Replicas {
		if name := replicaName(i); !k.down[name] && !r.Running() {
			k.gone(name, lastLine(r.Log()))
			if err := r.Start(); err != nil {
				return err
			}
		}
	}
	for _, status := range k.cluster.Status() {
		if !slices.Contains(components, status.Name) || k.down[status.Name] || status.Running {
			continue
		}
		k.gone(status.Name, lastLine(status.Log))
		if err := k.cluster.StartComponent(ctx, status.Name); err != nil {
			return err
		}
	}
	return nil
}

// components are the processes of the control plane.
var components = []string{localcluster.Etcd, localcluster.APIServer, localcluster.ControllerManager, localcluster.Scheduler}

func (k *keeper) gone(name, said string) {
	k.byThemselves = append(k.byThemselves, name)
	k.journal.add(time.Now(), name, "has ended by itself: %s", said)
}

func replicaName(i int) string { return fmt.Sprintf("leasewarden-%d", i) }

// take marks processes as down on purpose and does that to them.
func (k *keeper) take(names []string, do func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		k.down[name] = true
	}
	return do()
}

// bring starts processes that were taken down, and waits until they answer.
func (k *keeper) bring(names []string, do func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		delete(k.down, name)
	}
	return do()
}

// killReplicas ends replicas of Leasewarden by SIGKILL.
func (k *keeper) killReplicas(which ...int) error {
	return k.take(replicaNames(which), func() error {
		for _, i := range which {
			if err := k.warden.Replicas[i].Kill(); err != nil {
				return err
			}
		}
		return nil
	})
}

// stopReplicas asks replicas to end, all at once, and waits until they have.
func (k *keeper) stopReplicas(ctx context.Context, which ...int) error {
	return k.take(replicaNames(which), func() error {
		for _, i := range which {
			if err := k.warden.Replicas[i].Signal(syscall.SIGTERM); err != nil {
				return err
			}
		}
		for _, i := range which {
			r := k.warden.Replicas[i]
			ended := until(ctx, stopGrace, func() bool { return !r.Running() })
			if ended != nil {
				return fmt.Errorf("%s was asked to end, and has not within %s: %w", replicaName(i), stopGrace, ended)
			}
		}
		return nil
	})
}

// signalReplicas sends replicas a signal.
func (k *keeper) signalReplicas(signal syscall.Signal, which ...int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, i := range which {
		errs = append(errs, k.warden.Replicas[i].Signal(signal))
	}
	return errors.Join(errs...)
}

// startReplicas starts replicas again, and waits until all are ready.
func (k *keeper) startReplicas(ctx context.Context, which ...int) error {
	return k.bring(replicaNames(which), func() error { return k.warden.Start(ctx) })
}

func replicaNames(which []int) []string {
	var all []string
	for _, i := range which {
		all = append(all, replicaName(i))
	}
	return all
}

// ended are the names of what has ended by itself so far, with how often.
func (k *keeper) ended() map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	counts := map[string]int{}
	for _, name := range k.byThemselves {
		counts[name]++
	}
	return counts
}

// pid is that of a running process, 0 if there is none.
func (k *keeper) pid(name string) int {
	pid := 0
	for _, status := range k.cluster.Status() {
		if status.Name == name && status.Running {
			pid = status.PID
		}
	}
	return pid
}

// isReplica reports whether it is the name of a replica of Leasewarden.
func isReplica(name string) bool { return strings.HasPrefix(name, "leasewarden-") }
