package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Process is a program that was started. Its methods may be called from any
// goroutine.
type Process struct {
	name    string
	pid     int
	handle  *os.Process
	done    chan struct{}
	started time.Time

	mu       sync.Mutex
	ended    time.Time
	exitCode int
}

// Start starts the program with the launcher at the given path and returns
// once the program runs. The error names the process and what stood in the
// way; a program that cannot be executed is such an error.
func Start(launcher string, spec Spec) (*Process, error) {
	fail := func(err error) (*Process, error) {
		return nil, fmt.Errorf("cannot start %s: %w", spec.Name, err)
	}
	raw, err := json.Marshal(spec.wire(os.Getpid()))
	if err != nil {
		return fail(err)
	}
	specReader, specWriter, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	defer specReader.Close()
	defer specWriter.Close()
	eventsReader, eventsWriter, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	defer eventsReader.Close()
	defer eventsWriter.Close()

	cmd := exec.Command(launcher)
	cmd.ExtraFiles = []*os.File{specReader, eventsWriter}
	// A group of its own: Ctrl-C in a terminal is for the caller, who then
	// stops what it started in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if spec.Log != "" {
		log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return fail(err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	eventsWriter.Close()
	specReader.Close()
	// An error shows as an event, or as a launcher that ended without one.
	_, _ = specWriter.Write(raw)
	specWriter.Close()

	pid, err := awaitStart(eventsReader)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fail(err)
	}
	handle, err := os.FindProcess(pid)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fail(err)
	}
	p := &Process{name: spec.Name, pid: pid, handle: handle, done: make(chan struct{}), started: time.Now()}
	go p.wait(cmd)
	return p, nil
}

// awaitStart reads the launcher's events up to the moment when the program
// runs, which closes the pipe.
func awaitStart(events *os.File) (pid int, err error) {
	lines := bufio.NewScanner(events)
	for lines.Scan() {
		var e struct {
			PID   int    `json:"pid"`
			Error string `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return 0, err
		}
		if e.Error != "" {
			return 0, errors.New(e.Error)
		}
		pid = e.PID
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	if pid == 0 {
		return 0, errors.New("its launcher ended early")
	}
	return pid, nil
}

func (p *Process) wait(cmd *exec.Cmd) {
	_ = cmd.Wait()
	// What the program itself started and left behind, outside of a PID namespace.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	code := cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	p.mu.Lock()
	p.ended, p.exitCode = time.Now(), code
	p.mu.Unlock()
	close(p.done)
}

// PID is the program's process ID on the host.
func (p *Process) PID() int { return p.pid }

// Started is when the program was started.
func (p *Process) Started() time.Time { return p.started }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns the program's exit code, 128 plus the signal's number if a
// signal ended it, and when it ended. ok is false while it runs.
func (p *Process) Exit() (code int, ended time.Time, ok bool) {
	select {
	case <-p.done:
	default:
		return 0, time.Time{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exitCode, p.ended, true
}

// Signal sends a signal to the program. It returns an error that wraps
// os.ErrProcessDone if the program has ended.
func (p *Process) Signal(signal syscall.Signal) error {
	// Through a pidfd, so never to another process under a reused PID.
	if err := p.handle.Signal(signal); err != nil {
		return fmt.Errorf("cannot send %s to %s (PID %d): %w", signal, p.name, p.pid, err)
	}
	return nil
}

// Stop asks the program to end (SIGTERM), ends it with SIGKILL after the grace
// period, and returns once it has ended.
func (p *Process) Stop(grace time.Duration) {
	_ = p.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return
	case <-timer.C:
	}
	_ = p.Signal(syscall.SIGKILL)
	<-p.done
}
