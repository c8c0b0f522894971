package localcluster

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// hostProcess is a process that a test started next to the cluster.
type hostProcess struct {
	name    string
	log     string
	process *process.Process
}

// StartProcess starts a program on the host, outside of any pod, that ends at
// the latest with the cluster. Its output goes to the file ProcessLog(name).
func (c *Cluster) StartProcess(name, path string, args ...string) (*process.Process, error) {
	log := c.ProcessLog(name)
	p, err := process.Start(c.launcher, process.Spec{Name: name, Path: path, Args: args, Log: log})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = append(c.processes, hostProcess{name: name, log: log, process: p})
	return p, nil
}

// ProcessLog returns the path of the log of a process started by StartProcess,
// and that of a component or node of this name.
func (c *Cluster) ProcessLog(name string) string { return logPath(c.dir, name) }

func (c *Cluster) stopProcesses() {
	c.mu.Lock()
	processes := c.processes
	c.mu.Unlock()
	var stopping sync.WaitGroup
	for _, p := range processes {
		stopping.Go(func() { p.process.Stop(stopGrace) })
	}
	stopping.Wait()
}

// ProcessStatus is one line of Cluster.Status.
type ProcessStatus struct {
	// Name of the component, node or process.
	Name string
	// Version of a component, with "v"; empty for others.
	Version string
	// PID on the host, 0 if it does not run. A node runs in this process and
	// has no PID of its own.
	PID int
	// Running is whether it runs.
	Running bool
	// Log is the path of its log.
	Log string
}

// Status lists the cluster's processes in the order of their start.
func (c *Cluster) Status() []ProcessStatus {
	var list []ProcessStatus
	for _, component := range c.components {
		pid := component.pid()
		list = append(list, ProcessStatus{
			Name: component.name, Version: "v" + component.version, PID: pid, Running: pid != 0, Log: component.log,
		})
	}
	for _, n := range c.nodes {
		running := true
		select {
		case <-n.kubelet.Done():
			running = false
		default:
		}
		list = append(list, ProcessStatus{Name: n.name, Version: "v" + c.options.KubernetesVersion, Running: running, Log: logPath(c.dir, n.name)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.processes {
		status := ProcessStatus{Name: p.name, Log: p.log}
		if _, _, ended := p.process.Exit(); !ended {
			status.PID, status.Running = p.process.PID(), true
		}
		list = append(list, status)
	}
	return list
}

// container finds a container of a pod on any node.
func (c *Cluster) container(namespace, pod, container string) (p *process.Process, log string, err error) {
	for _, n := range c.nodes {
		p, log, err = n.kubelet.Container(namespace, pod, container)
		if err == nil {
			return p, log, nil
		}
	}
	return nil, "", fmt.Errorf("container %s of pod %s/%s is on no node of the local cluster", container, namespace, pod)
}

// PodProcess returns the host's PID of a container's process. An error says
// that it does not run.
func (c *Cluster) PodProcess(namespace, pod, container string) (pid int, err error) {
	p, _, err := c.container(namespace, pod, container)
	if err != nil {
		return 0, err
	}
	if p != nil {
		if _, _, ended := p.Exit(); !ended {
			return p.PID(), nil
		}
	}
	return 0, fmt.Errorf("container %s of pod %s/%s does not run", container, namespace, pod)
}

// Signal sends a signal to a container's process: SIGSTOP for a hung candidate,
// SIGCONT, SIGTERM. As PID 1 of its namespace the process gets only signals that
// it handles, and SIGKILL and SIGSTOP.
func (c *Cluster) Signal(namespace, pod, container string, signal syscall.Signal) error {
	p, _, err := c.container(namespace, pod, container)
	if err != nil {
		return err
	}
	if p == nil {
		return fmt.Errorf("container %s of pod %s/%s does not run", container, namespace, pod)
	}
	return p.Signal(signal)
}

// KillContainer kills a container's process (SIGKILL) and returns when it has
// ended, and the moment at which it had. The kubelet does not know yet.
func (c *Cluster) KillContainer(namespace, pod, container string) (ended time.Time, err error) {
	p, _, err := c.container(namespace, pod, container)
	if err != nil {
		return time.Time{}, err
	}
	if p == nil {
		return time.Time{}, fmt.Errorf("container %s of pod %s/%s does not run", container, namespace, pod)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return time.Time{}, err
	}
	<-p.Done()
	_, ended, _ = p.Exit()
	return ended, nil
}

// ContainerLog returns the path of the log of a container's current or last run.
func (c *Cluster) ContainerLog(namespace, pod, container string) (string, error) {
	_, log, err := c.container(namespace, pod, container)
	if err == nil && log == "" {
		err = fmt.Errorf("container %s of pod %s/%s has not been started", container, namespace, pod)
	}
	return log, err
}

// ContainerLogs returns the paths of the logs of all runs of the containers of a
// namespace, also of those that are gone.
func (c *Cluster) ContainerLogs(namespace string) ([]string, error) {
	return filepath.Glob(filepath.Join(c.dir, "nodes", "*", "logs", namespace+"_*", "*", "*.log"))
}
