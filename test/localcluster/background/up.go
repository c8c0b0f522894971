package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// pollInterval is how often Up and Down look whether the holder is done.
const pollInterval = 100 * time.Millisecond

// ErrAlreadyUp says that there is a cluster of this name.
var ErrAlreadyUp = errors.New("the local cluster is up already")

// Up starts this program again in the background, with the given arguments,
// which must lead to a call of Hold with the same name. It returns the state
// when the cluster is ready. With ErrAlreadyUp it returns the state of the
// cluster that is up.
func Up(ctx context.Context, name string, args ...string) (State, error) {
	d, err := open(name)
	if err != nil {
		return State{}, err
	}
	held, err := d.held()
	if err != nil {
		return State{}, err
	}
	if held {
		state, err := Status(name)
		if err != nil {
			return State{}, err
		}
		return state, ErrAlreadyUp
	}
	// What a holder that was killed may have left.
	if err := os.RemoveAll(string(d)); err != nil {
		return State{}, err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return State{}, err
	}
	holder, err := d.startHolder(args)
	if err != nil {
		return State{}, fmt.Errorf("cannot start a process in the background: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = holder.Wait()
		close(ended)
	}()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		state, err := d.read()
		switch {
		case err == nil && state.Error != "":
			<-ended
			return State{}, errors.New(state.Error)
		case err == nil:
			return state, nil
		}
		select {
		case <-ended:
			return State{}, fmt.Errorf("the process in the background has ended: see %s", d.log())
		case <-ctx.Done():
			_ = holder.Process.Signal(syscall.SIGTERM)
			<-ended
			return State{}, ctx.Err()
		case <-ticker.C:
		}
	}
}

func (d directory) startHolder(args []string) (*exec.Cmd, error) {
	// "go run" removes the program when the command ends; the copy stays.
	if err := copyProgram(d.program()); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(d.log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(d.program(), args...)
	cmd.Stdout, cmd.Stderr = log, log
	// A session of its own: the terminal may be closed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

func copyProgram(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	source, err := os.Open(self)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}
