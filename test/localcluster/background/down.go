package background

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// downTimeout is how long the holder may take to stop everything by itself.
const downTimeout = 30 * time.Second

// Down stops the named cluster and removes its files. It returns ErrNotUp if
// there was none; files of one that was killed are removed all the same.
func Down(ctx context.Context, name string) error {
	d, err := open(name)
	if err != nil {
		return err
	}
	held, err := d.held()
	if err != nil {
		return err
	}
	if !held {
		return errors.Join(ErrNotUp, os.RemoveAll(string(d)))
	}
	state, err := d.awaitState(ctx)
	if err != nil {
		return err
	}
	holder, err := os.FindProcess(state.PID)
	if err != nil {
		return err
	}
	_ = holder.Signal(syscall.SIGTERM)
	if err := d.awaitRelease(ctx, downTimeout); err != nil {
		// Everything that it holds ends with it.
		_ = holder.Kill()
		if err := d.awaitRelease(ctx, downTimeout); err != nil {
			return err
		}
	}
	return os.RemoveAll(string(d))
}

// awaitState waits for the first state of a holder that is just starting.
func (d directory) awaitState(ctx context.Context) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		state, err := d.read()
		if err == nil {
			return state, nil
		}
		select {
		case <-ctx.Done():
			return State{}, errors.New("the local cluster is just being started: try again when it is up")
		case <-ticker.C:
		}
	}
}

// awaitRelease waits until the holder has ended.
func (d directory) awaitRelease(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	lock := d.lock()
	if _, err := lock.TryLockContext(ctx, pollInterval); err != nil {
		return errors.New("the local cluster does not stop: try again")
	}
	return lock.Unlock()
}
