//go:build linux

// The launcher stands between whoever starts a process and the process: it
// starts the program that its spec names, waits for it, and exits with its
// exit code.
//
// It exists for one guarantee: the program never outlives the process that
// asked for it, however that one ends. The launcher watches its parent through
// a pidfd and kills the program when the parent is gone; the program in turn
// is killed by the kernel when the launcher is (parent-death signal). A
// parent-death signal alone would not do for the first half: Go moves
// goroutines between threads, and the kernel sends it when the thread ends
// that forked, not the process.
//
// With a container in its spec, the program runs in PID, mount and UTS
// namespaces of its own (and in a user namespace, without root).
//
// It depends on the standard library alone, so that it can be built from its
// embedded source anywhere.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

const (
	specFD   = 3 // the parent writes the spec here
	eventsFD = 4 // and reads the program's PID, or an error, here

	// cannotStart is the exit code when the program was not started, the one
	// that container runtimes use for it.
	cannotStart = 128
)

// initArgument makes the launcher the second stage: the first process in the
// container's namespaces, which sets them up and becomes the program.
const initArgument = "leasewarden-container-init"

// checkArgument makes the launcher, started in new namespaces, try what a
// container's first process needs, on the directory that follows.
const checkArgument = "leasewarden-container-check"

// event is one line that the launcher writes for its parent.
type event struct {
	PID   int    `json:"pid,omitempty"`
	Error string `json:"error,omitempty"`
}

func init() {
	// The parent-death signal of the program is tied to the thread that forks
	// it. The main goroutine keeps the main thread, which lasts as long as the
	// process.
	runtime.LockOSThread()
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == checkArgument {
		if err := checkNamespaces(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(cannotStart)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == initArgument {
		if err := containerInit(); err != nil {
			report(os.NewFile(eventsFD, "events"), event{Error: err.Error()})
			os.Exit(cannotStart)
		}
	}
	os.Exit(launch())
}

// launch is the first stage.
func launch() int {
	// A signal for the process group reaches the program itself; the launcher
	// only has to live on until the program has ended. Not by ignoring the
	// signals: the program would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)

	spec, raw, events, err := readSpec()
	if err != nil {
		fmt.Fprintln(os.Stderr, "launcher:", err)
		return cannotStart
	}
	fail := func(err error) int {
		if events == nil {
			fmt.Fprintln(os.Stderr, "launcher:", err)
		} else {
			report(events, event{Error: err.Error()})
		}
		return cannotStart
	}
	parent, err := openParent(spec.ParentPID)
	if err != nil {
		return fail(err)
	}

	cmd := exec.Command(spec.Path)
	cmd.Args = append([]string{spec.argv0()}, spec.Args...)
	cmd.Env = spec.Env
	cmd.Dir = spec.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if spec.Container != nil {
		again, err := specFile(raw)
		if err != nil {
			return fail(err)
		}
		self, err := os.Executable()
		if err != nil {
			return fail(err)
		}
		cmd.Path, cmd.Args, cmd.Dir = self, []string{spec.argv0(), initArgument}, ""
		cmd.ExtraFiles = []*os.File{again, events}
		isolate(cmd.SysProcAttr, spec.Container)
	}
	if err := cmd.Start(); err != nil {
		return fail(fmt.Errorf("cannot start %s: %w", spec.Path, err))
	}
	go func() {
		waitParent(parent)
		// The whole group, since the program may have started others, and the
		// launcher with it: to kill the program first would let the main
		// goroutine exit before the others are killed. A program that has left
		// the group gets its parent-death signal.
		_ = syscall.Kill(0, syscall.SIGKILL)
	}()
	if spec.PIDFile != "" {
		_ = os.WriteFile(spec.PIDFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
	}
	if events != nil {
		report(events, event{PID: cmd.Process.Pid})
		// The second stage still has its copy, and closes it by becoming the
		// program: the parent reads "end of file" as "the program runs".
		events.Close()
	}
	return exitCode(cmd.Wait())
}

// readSpec takes the spec from a file next to the executable, for callers who
// can only name an executable and its arguments; otherwise from a pipe.
func readSpec() (spec *spec, raw []byte, events *os.File, err error) {
	raw, err = os.ReadFile(os.Args[0] + ".json")
	if err == nil {
		spec, err = parseSpec(raw)
		if err != nil {
			return nil, nil, nil, err
		}
		spec.Args = append(spec.Args, os.Args[1:]...)
		return spec, raw, nil, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil, err
	}
	// Neither descriptor is for the program.
	syscall.CloseOnExec(specFD)
	syscall.CloseOnExec(eventsFD)
	in := os.NewFile(specFD, "spec")
	defer in.Close()
	raw, err = io.ReadAll(in)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("no spec: %w", err)
	}
	spec, err = parseSpec(raw)
	return spec, raw, os.NewFile(eventsFD, "events"), err
}

// specFile makes the spec readable a second time, for the second stage.
func specFile(raw []byte) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = w.Write(raw)
		w.Close()
	}()
	return r, nil
}

func report(to *os.File, e event) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = to.Write(append(line, '\n'))
}

// exitCode is what a shell or a container runtime would call the exit code:
// 128 plus the signal's number for a program that a signal ended.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	default:
		return cannotStart
	}
}
