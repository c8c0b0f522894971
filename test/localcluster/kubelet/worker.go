package kubelet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// minGrace is the least time that the kubelet gives a container to end.
const minGrace = 2 * time.Second

// podWorker brings the processes of one pod to what the pod asks for. Its only
// work is sync, which is run again after whatever may have changed something.
type podWorker struct {
	kubelet *Kubelet
	uid     types.UID
	name    types.NamespacedName
	dir     string
	ip      string
	logs    string
	started metav1.Time
	ctx     context.Context
	cancel  context.CancelFunc
	wake    chan struct{}
	status  *statusWriter
	lookDue atomic.Bool

	mu         sync.Mutex
	pod        *corev1.Pod
	conditions []corev1.PodCondition // to keep the transition times
	volumes    *volumes
	init       []*container
	containers []*container
	finished   bool // all containers have ended for good
	// Termination.
	terminating bool
	killed      bool // the signal has been sent
	grace       time.Duration
}

func newPodWorker(k *Kubelet, pod *corev1.Pod) *podWorker {
	w := &podWorker{
		kubelet: k,
		uid:     pod.UID,
		name:    namespacedName(pod),
		dir:     filepath.Join(k.config.Dir, "pods", string(pod.UID)),
		logs:    filepath.Join(k.config.Dir, "logs", fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID)),
		ip:      k.config.IP,
		started: metav1.NewTime(k.config.Clock.Now()),
		wake:    make(chan struct{}, 1),
		pod:     pod.DeepCopy(),
	}
	if !pod.Spec.HostNetwork {
		w.ip = k.config.AllocatePodIP()
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.status = newStatusWriter(w)
	w.volumes = newVolumes(w)
	for _, c := range pod.Spec.InitContainers {
		w.init = append(w.init, newContainer(c, filepath.Join(w.logs, c.Name)))
	}
	for _, c := range pod.Spec.Containers {
		w.containers = append(w.containers, newContainer(c, filepath.Join(w.logs, c.Name)))
	}
	w.poke()
	return w
}

// run works until the pod is gone.
func (w *podWorker) run() {
	var writing sync.WaitGroup
	writing.Go(func() { w.status.run(w.ctx) })
	defer writing.Wait()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.wake:
			w.sync()
		}
	}
}

func (w *podWorker) poke() {
	select {
	case w.wake <- struct{}{}:
	default: // it will run anyway
	}
}

// relist asks for a look at the processes, once per relistPeriod. The worker
// then syncs also without a change: a back-off may be over, a volume's source
// may be there.
func (w *podWorker) relist() {
	w.lookDue.Store(true)
	w.poke()
}

func (w *podWorker) all() []*container {
	return append(append([]*container{}, w.init...), w.containers...)
}

// lastPod returns the pod as the kubelet was last told of it.
func (w *podWorker) lastPod() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod.DeepCopy()
}

func (w *podWorker) update(pod *corev1.Pod) {
	w.mu.Lock()
	w.pod = pod.DeepCopy()
	w.mu.Unlock()
	w.poke()
}

// terminate starts the pod's termination, or shortens its grace period.
func (w *podWorker) terminate(pod *corev1.Pod) {
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = *s
	}
	if s := pod.DeletionGracePeriodSeconds; s != nil {
		grace = *s
	}
	w.mu.Lock()
	wanted := max(time.Duration(grace)*time.Second, minGrace)
	if !w.terminating || wanted < w.grace {
		w.grace, w.killed = wanted, false
	}
	w.terminating = true
	if w.pod.DeletionTimestamp == nil {
		w.pod.DeletionTimestamp = pod.DeletionTimestamp
		w.pod.DeletionGracePeriodSeconds = pod.DeletionGracePeriodSeconds
	}
	w.mu.Unlock()
	w.poke()
}

// sync does what there is to do now.
func (w *podWorker) sync() {
	if w.kubelet.isStopped() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lookDue.CompareAndSwap(true, false) {
		for _, c := range w.all() {
			c.look()
		}
	}
	switch {
	case w.finished:
	case w.terminating:
		w.stopContainers()
	default:
		// The end of a container is reported before its restart hides it.
		w.status.write(w.buildStatus(), false)
		w.startContainers()
	}
	w.status.write(w.buildStatus(), w.terminating && w.finished)
}

// stopContainers ends the containers of a deleted pod.
func (w *podWorker) stopContainers() {
	running := false
	for _, c := range w.all() {
		if c.process == nil || c.seen.Terminated != nil {
			continue
		}
		// Also if it has ended but that was not seen yet.
		running = true
		if c.running() && !w.killed {
			c.stopProbes()
			go stop(w.ctx, c.process, c.spec.Lifecycle, w.grace)
			w.event(corev1.EventTypeNormal, "Killing", "Stopping container "+c.spec.Name)
		}
	}
	w.killed = true
	w.finished = !running
}

// stop runs the hook and stops the container within the grace period.
func stop(ctx context.Context, p *process.Process, lifecycle *corev1.Lifecycle, grace time.Duration) {
	if lifecycle != nil && lifecycle.PreStop != nil && lifecycle.PreStop.Sleep != nil {
		sleep := min(time.Duration(lifecycle.PreStop.Sleep.Seconds)*time.Second, grace)
		timer := time.NewTimer(sleep)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.Done():
			return
		case <-ctx.Done():
			return
		}
		grace = max(grace-sleep, minGrace)
	}
	p.Stop(grace)
}

// startContainers starts what is to run and does not.
func (w *podWorker) startContainers() {
	if err := w.volumes.sync(w.ctx); err != nil {
		for _, c := range w.all() {
			if c.process == nil {
				c.waiting.Message = err.Error()
			}
		}
		w.event(corev1.EventTypeWarning, "FailedMount", err.Error())
		return
	}
	policy := w.pod.Spec.RestartPolicy
	for _, c := range w.init {
		if c.seen.Terminated != nil && c.seen.Terminated.ExitCode == 0 {
			continue
		}
		initPolicy := policy
		if policy == corev1.RestartPolicyAlways {
			initPolicy = corev1.RestartPolicyOnFailure
		}
		if c.seen.Terminated != nil && initPolicy == corev1.RestartPolicyNever {
			w.finished = true
			return
		}
		w.startContainer(c)
		for _, later := range w.containers {
			later.waiting = corev1.ContainerStateWaiting{Reason: reasonInitializing}
		}
		return // one after the other
	}
	over := 0
	for _, c := range w.containers {
		if t := c.seen.Terminated; t != nil {
			if policy == corev1.RestartPolicyNever || (policy == corev1.RestartPolicyOnFailure && t.ExitCode == 0) {
				over++
				continue
			}
		}
		w.startContainer(c)
	}
	w.finished = over == len(w.containers)
}

// startContainer starts the container unless it runs, its end was not seen
// yet, or it has to wait.
func (w *podWorker) startContainer(c *container) {
	if c.process != nil && c.seen.Terminated == nil {
		return
	}
	now := w.kubelet.config.Clock.Now()
	if t := c.seen.Terminated; t != nil {
		if wait := c.backOff.wait(t.FinishedAt.Time, now); wait > 0 {
			message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
				c.backOff.delay, c.spec.Name, w.name.Name, w.name.Namespace, w.uid)
			if c.waiting.Reason != reasonCrashLoop {
				w.event(corev1.EventTypeWarning, "BackOff", message)
			}
			c.waiting = corev1.ContainerStateWaiting{Reason: reasonCrashLoop, Message: message}
			return
		}
	}
	program, ok := w.kubelet.config.Image(c.spec.Image)
	if !ok {
		message := fmt.Sprintf("image %q is not one of the local cluster's: add it as an image of the cluster", c.spec.Image)
		if c.waiting.Reason != reasonImagePull {
			w.event(corev1.EventTypeWarning, "Failed", message)
		}
		c.waiting = corev1.ContainerStateWaiting{Reason: reasonImagePull, Message: message}
		return
	}
	spec, err := w.processSpec(c, program)
	if err != nil {
		if c.waiting.Reason != reasonConfigError {
			w.event(corev1.EventTypeWarning, "Failed", err.Error())
		}
		c.waiting = corev1.ContainerStateWaiting{Reason: reasonConfigError, Message: err.Error()}
		return
	}
	c.stopProbes()
	if err := c.start(w.kubelet.config.Launcher, spec, now); err != nil {
		w.event(corev1.EventTypeWarning, "Failed", err.Error())
		c.waiting = corev1.ContainerStateWaiting{Reason: reasonRunError, Message: err.Error()}
		return
	}
	w.event(corev1.EventTypeNormal, "Started", "Started container "+c.spec.Name)
	w.startProbes(c)
}

// hostname is what the container's programs see as the host's name.
func (w *podWorker) hostname() string {
	switch {
	case w.pod.Spec.HostNetwork:
		return w.kubelet.config.NodeName
	case w.pod.Spec.Hostname != "":
		return w.pod.Spec.Hostname
	}
	return w.name.Name
}

// processSpec translates the container.
func (w *podWorker) processSpec(c *container, program string) (process.Spec, error) {
	environment, err := w.environment(c.spec)
	if err != nil {
		return process.Spec{}, err
	}
	mounts, err := w.mounts(c.spec, program)
	if err != nil {
		return process.Spec{}, err
	}
	root := filepath.Join(w.dir, "roots", c.spec.Name)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return process.Spec{}, err
	}
	path, args := command(c.spec, program, environment)
	return process.Spec{
		Name: fmt.Sprintf("container %s of pod %s", c.spec.Name, w.name),
		Path: path,
		Args: args,
		Env:  environment.list(),
		Dir:  c.spec.WorkingDir,
		Container: &process.Container{
			Hostname:      w.hostname(),
			Root:          root,
			Mounts:        mounts,
			UserNamespace: w.kubelet.config.UserNamespace,
		},
	}, nil
}

func (w *podWorker) event(kind, reason, message string) {
	w.kubelet.recorder.Event(w.pod, kind, reason, message)
	w.kubelet.config.Log.Info(message, "pod", w.name.String(), "reason", reason)
}

// kill ends all processes as a crash of the machine would.
func (w *podWorker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.all() {
		if c.running() {
			_ = c.signal(syscall.SIGKILL)
		}
	}
}

// shutDown ends the worker and its processes without a report.
func (w *podWorker) shutDown() {
	w.cancel()
	w.kill()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.all() {
		c.stopProbes()
		if c.process != nil {
			<-c.process.Done()
		}
	}
	w.volumes.remove()
}

// gone is called when the pod has been removed from the API server.
func (w *podWorker) gone() {
	w.kubelet.remove(w)
	w.shutDown()
}
