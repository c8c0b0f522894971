package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// The names of the control plane's components.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// stopGrace is how long a component may take to end by itself.
const stopGrace = 5 * time.Second

// component is one process of the control plane, that can be stopped and
// started again.
type component struct {
	name, version, log string
	// start starts it and returns when it answers, or at once if it has no way
	// to tell.
	start func(ctx context.Context) error
	stop  func() error
	pid   func() int // 0 if it is not running
}

// envtestComponent is a component that envtest starts, through a stand-in for
// its program that leaves the PID in a file.
func envtestComponent(name, version, log, pidFile string, start, stop func() error) *component {
	return &component{
		name: name, version: version, log: log,
		start: func(context.Context) error {
			if err := start(); err != nil {
				return fmt.Errorf("%s has not become ready (%s): %w", name, lastLine(log), err)
			}
			return nil
		},
		stop: stop,
		pid: func() int {
			content, err := os.ReadFile(pidFile)
			if err != nil {
				return 0
			}
			pid, err := strconv.Atoi(string(content))
			if err != nil || syscall.Kill(pid, 0) != nil {
				return 0
			}
			return pid
		},
	}
}

// processComponent is a component that is simply a process.
func processComponent(launcher, name, version, program, log string, args map[string]string) *component {
	var mu sync.Mutex
	var current *process.Process
	running := func() *process.Process {
		mu.Lock()
		defer mu.Unlock()
		if current == nil {
			return nil
		}
		if _, _, ended := current.Exit(); ended {
			return nil
		}
		return current
	}
	return &component{
		name: name, version: version, log: log,
		start: func(context.Context) error {
			if running() != nil {
				return nil
			}
			p, err := process.Start(launcher, process.Spec{Name: name, Path: program, Args: flags(args), Log: log})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			current = p
			return nil
		},
		stop: func() error {
			if p := running(); p != nil {
				p.Stop(stopGrace)
			}
			return nil
		},
		pid: func() int {
			if p := running(); p != nil {
				return p.PID()
			}
			return 0
		},
	}
}

// flags turns names and values into arguments, in a stable order.
func flags(values map[string]string) []string {
	var args []string
	for name, value := range values {
		args = append(args, "--"+name+"="+value)
	}
	slices.Sort(args)
	return args
}

// lastLine is the end of a log, as a hint at why its process ended.
func lastLine(log string) string {
	content, err := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if err != nil || last == "" {
		return "its log is " + log
	}
	return fmt.Sprintf("it says %q; its log is %s", last, log)
}

// component finds one by name.
func (c *Cluster) component(name string) (*component, error) {
	var names []string
	for _, component := range c.components {
		if component.name == name {
			return component, nil
		}
		names = append(names, component.name)
	}
	return nil, fmt.Errorf("there is no component %q: choose one of %s", name, strings.Join(names, ", "))
}

// StopComponent stops a component (Etcd, APIServer, ControllerManager or
// Scheduler) gracefully and returns when it has ended.
func (c *Cluster) StopComponent(name string) error {
	component, err := c.component(name)
	if err != nil {
		return err
	}
	return component.end()
}

// end stops the component, also one that was sent SIGSTOP.
func (c *component) end() error {
	if pid := c.pid(); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	return c.stop()
}

// StartComponent starts a component that was stopped or killed, with the same
// flags, data and address. It returns when etcd or the API server answers; the
// others take a moment more.
func (c *Cluster) StartComponent(ctx context.Context, name string) error {
	component, err := c.component(name)
	if err != nil {
		return err
	}
	// envtest does not start what it has not seen ending.
	if err := component.end(); err != nil {
		return err
	}
	return component.start(ctx)
}

// SignalComponent sends a signal to a component, such as SIGKILL, SIGSTOP or SIGCONT.
func (c *Cluster) SignalComponent(name string, signal syscall.Signal) error {
	component, err := c.component(name)
	if err != nil {
		return err
	}
	pid := component.pid()
	if pid == 0 {
		return fmt.Errorf("cannot send %s to %s: %w", signal, name, os.ErrProcessDone)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("cannot send %s to %s (PID %d): %w", signal, name, pid, err)
	}
	return nil
}

// stopComponents stops all, the last started first.
func (c *Cluster) stopComponents() error {
	var errs []error
	for _, component := range slices.Backward(c.components) {
		errs = append(errs, component.end())
	}
	return errors.Join(errs...)
}

func logPath(dir, name string) string { return filepath.Join(dir, "logs", name+".log") }
