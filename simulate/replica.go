package simulate

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// versionLabel is where policies find a replica's version, besides the tag of
// its image.
const versionLabel = "app.kubernetes.io/version"

// container is the name of a replica's container.
const container = "main"

// replica is a Pod and the process in it.
type replica struct {
	run *run
	Replica
	pod *corev1.Pod
	// process is the present one, or the last one that was.
	process *elector
	// cutOff says that it cannot reach the API server.
	cutOff bool
	// stopped says that nothing starts it again, until something does.
	stopped bool
	// revision is which rollout it belongs to.
	revision int
}

// start makes the Pod and starts the process.
func (r *replica) start() {
	r.stopped = false
	r.run.pods++
	r.pod = &corev1.Pod{}
	r.pod.Namespace, r.pod.Name = r.run.key.Namespace, r.Name
	r.pod.UID = types.UID(fmt.Sprint("pod-", r.run.pods))
	r.pod.CreationTimestamp = metav1.NewTime(r.run.now)
	r.pod.Labels = map[string]string{versionLabel: r.Version, appsv1.DefaultDeploymentUniqueLabelKey: fmt.Sprint(r.revision)}
	for key, value := range r.run.scenario.Labels {
		r.pod.Labels[key] = value
	}
	r.pod.OwnerReferences = []metav1.OwnerReference{r.run.owner(r.revision)}
	r.pod.Spec.NodeName = r.Node
	r.pod.Spec.Containers = []corev1.Container{{Name: container, Image: "component:" + r.Version}}
	r.pod.Status.Phase = corev1.PodRunning
	r.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	r.run.podIs(r.pod)
	r.startProcess()
}

// startProcess starts a process in the Pod: a new elector with a new identity.
func (r *replica) startProcess() {
	r.run.processes++
	e := &elector{run: r.run, replica: r, alive: true, identity: fmt.Sprintf("%s_%d", r.Name, r.run.processes)}
	r.process = e
	// No two replicas are as fast as each other.
	start := r.run.scenario.Timings.Start.Duration
	r.run.after(start+time.Duration(r.run.random.Float64()*float64(start/4+time.Second)), e.acquire)
	if r.run.policy != nil {
		r.run.after(r.run.reportDelay(), func() { r.report(e) })
	}
}

// report has the status of the Pod say whether its process runs, unless there is
// a later one.
func (r *replica) report(e *elector) {
	if r.stopped || r.process != e {
		return
	}
	status := corev1.ContainerStatus{Name: container}
	if e.alive {
		status.State.Running = &corev1.ContainerStateRunning{}
	} else {
		status.State.Terminated = &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(r.run.now)}
	}
	r.pod = r.pod.DeepCopy()
	r.pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	r.run.podIs(r.pod)
}

// restartLater has the kubelet start the container again.
func (r *replica) restartLater() {
	process := r.process
	r.run.after(r.run.scenario.Timings.Restart.Duration, func() {
		if !r.stopped && r.process == process {
			r.startProcess()
		}
	})
}

// terminate asks the Pod to stop, and removes it when it has.
func (r *replica) terminate() {
	if r.stopped {
		return
	}
	r.stopped = true
	pod := r.pod.DeepCopy()
	deleted, grace := metav1.NewTime(r.run.now), int64(30)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &deleted, &grace
	r.run.podIs(pod)
	if r.process.alive && r.run.scenario.Timings.ReleaseOnExit {
		r.process.release()
	}
	r.process.stop()
	r.run.reportDeath(r.process)
	r.run.after(time.Second, func() {
		if r.stopped {
			r.run.podIsGone(pod)
		}
	})
}

// crash ends the process. The container is started again after a while, or
// after as long as usual.
func (r *replica) crash(after time.Duration) {
	if r.stopped || !r.process.alive {
		return
	}
	r.process.stop()
	r.run.reportDeath(r.process)
	process := r.process
	r.run.after(max(after, r.run.scenario.Timings.Restart.Duration), func() {
		if !r.stopped && r.process == process {
			r.startProcess()
		}
	})
}

// lose takes away its power: nobody reports anything.
func (r *replica) lose(length time.Duration) {
	if r.stopped {
		return
	}
	r.stopped = true
	r.process.stop()
	if length > 0 {
		r.run.after(length, func() {
			if r.stopped {
				r.stopped = false
				r.startProcess()
			}
		})
	}
}
