package kubelet

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// Reasons of waiting and terminated containers, as the kubelet has them.
const (
	reasonCreating           = "ContainerCreating"
	reasonInitializing       = "PodInitializing"
	reasonCrashLoop          = "CrashLoopBackOff"
	reasonImagePull          = "ErrImagePull"
	reasonConfigError        = "CreateContainerConfigError"
	reasonRunError           = "RunContainerError"
	reasonCompleted          = "Completed"
	reasonError              = "Error"
	reasonStartError         = "StartError"
	startErrorCode     int32 = 128
)

// container is one container of a pod over all of its restarts. The pod's
// worker guards it.
type container struct {
	spec corev1.Container
	dir  string // logs

	// What is.
	process  *process.Process // of the current or the last run; nil before the first
	starts   int              // runs so far
	id       string
	log      string // file of the current run
	previous string // file of the run before
	backOff  backOff
	waiting  corev1.ContainerStateWaiting // why there is no run
	ready    bool
	startup  bool // the startup probe, if any, has succeeded
	probes   *prober

	// What the last look saw of the current run: nothing, until the first look
	// after its start.
	seen corev1.ContainerState
	// How the run before ended, and the one before that.
	terminated, older *corev1.ContainerStateTerminated
}

func newContainer(spec corev1.Container, dir string) *container {
	return &container{
		spec:    spec,
		dir:     dir,
		waiting: corev1.ContainerStateWaiting{Reason: reasonCreating},
	}
}

// running tells whether the process runs, as opposed to whether that was seen.
func (c *container) running() bool {
	if c.process == nil {
		return false
	}
	_, _, ended := c.process.Exit()
	return !ended
}

// start starts the next run.
func (c *container) start(launcher string, spec process.Spec, now time.Time) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	spec.Log = filepath.Join(c.dir, fmt.Sprintf("%d.log", c.starts))
	p, err := process.Start(launcher, spec)
	if c.seen.Terminated != nil {
		c.older, c.terminated = c.terminated, c.seen.Terminated
		c.backOff.restarted(c.terminated.FinishedAt.Time, now)
	}
	if c.starts > 0 {
		c.previous = c.log
	}
	c.starts++
	c.id, c.log = newContainerID(), spec.Log
	c.seen = corev1.ContainerState{}
	c.ready, c.startup = false, false
	if err != nil {
		c.process = nil
		c.seen.Terminated = startFailed(c.id, err, now)
		return err
	}
	c.process, c.waiting = p, corev1.ContainerStateWaiting{}
	return nil
}

func newContainerID() string {
	id := make([]byte, 32)
	_, _ = rand.Read(id) // never fails
	return "process://" + hex.EncodeToString(id)
}

// look notes what has happened to the process since the last look.
func (c *container) look() {
	if c.process == nil || c.seen.Terminated != nil {
		return
	}
	if code, ended, ok := c.process.Exit(); ok {
		c.seen = corev1.ContainerState{Terminated: terminated(c.id, code, c.process.Started(), ended)}
		c.ready = false
	} else if c.seen.Running == nil {
		c.seen = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: seconds(c.process.Started())}}
	}
}

// signal sends a signal to the current run.
func (c *container) signal(signal syscall.Signal) error {
	if c.process == nil {
		return fmt.Errorf("container %s has not been started: %w", c.spec.Name, os.ErrProcessDone)
	}
	return c.process.Signal(signal)
}
