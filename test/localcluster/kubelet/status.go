package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// seconds cuts a time to the API's precision, so that a status compares equal
// to itself after a round trip.
func seconds(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

func terminated(id string, code int, started, ended time.Time) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{
		ExitCode:    int32(code),
		Reason:      reasonCompleted,
		StartedAt:   seconds(started),
		FinishedAt:  seconds(ended),
		ContainerID: id,
	}
	if code != 0 {
		t.Reason = reasonError
	}
	return t
}

func startFailed(id string, err error, now time.Time) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode:    startErrorCode,
		Reason:      reasonStartError,
		Message:     err.Error(),
		FinishedAt:  seconds(now),
		ContainerID: id,
	}
}

// status is the container's status as seen by the last look.
func (c *container) status() corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name:         c.spec.Name,
		Image:        c.spec.Image,
		RestartCount: int32(max(0, c.starts-1)),
		Ready:        c.ready && c.seen.Running != nil,
		Started:      new(c.startup && c.seen.Running != nil),
	}
	if c.starts > 0 {
		s.ImageID, s.ContainerID = c.spec.Image, c.id
	}
	if c.terminated != nil {
		s.LastTerminationState.Terminated = c.terminated
	}
	switch {
	case c.seen.Running != nil:
		s.State.Running = c.seen.Running
	case c.seen.Terminated != nil && c.waiting.Reason != "":
		// Ended, and to be started again later.
		s.LastTerminationState.Terminated = c.seen.Terminated
		waiting := c.waiting
		s.State.Waiting = &waiting
	case c.seen.Terminated != nil:
		s.State.Terminated = c.seen.Terminated
	case c.terminated != nil:
		// Restarted, and not seen yet: as it was before.
		s.State.Terminated = c.terminated
		s.LastTerminationState.Terminated = c.older
		s.RestartCount--
		s.ContainerID = c.terminated.ContainerID
	case c.starts > 0:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reasonCreating}
	default:
		waiting := c.waiting
		s.State.Waiting = &waiting
	}
	return s
}

// buildStatus is the pod's status. The caller holds the lock.
func (w *podWorker) buildStatus() corev1.PodStatus {
	s := corev1.PodStatus{
		ObservedGeneration: w.pod.Generation,
		StartTime:          &w.started,
		HostIP:             w.kubelet.config.IP,
		HostIPs:            []corev1.HostIP{{IP: w.kubelet.config.IP}},
		PodIP:              w.ip,
		PodIPs:             []corev1.PodIP{{IP: w.ip}},
		Phase:              w.phase(),
	}
	initialized, ready := true, true
	for _, c := range w.init {
		status := c.status()
		if t := c.seen.Terminated; t == nil || t.ExitCode != 0 {
			initialized = false
		} else {
			status.Ready = true
		}
		s.InitContainerStatuses = append(s.InitContainerStatuses, status)
	}
	for _, c := range w.containers {
		status := c.status()
		ready = ready && status.Ready
		s.ContainerStatuses = append(s.ContainerStatuses, status)
	}
	ready = ready && initialized
	completed := s.Phase == corev1.PodSucceeded
	w.condition(corev1.PodReadyToStartContainers, w.volumes.ready && !w.finished, "")
	w.condition(corev1.PodInitialized, initialized, "ContainersNotInitialized")
	reason := "ContainersNotReady"
	if completed {
		reason = "PodCompleted"
	}
	w.condition(corev1.ContainersReady, ready, reason)
	w.condition(corev1.PodReady, ready, reason)
	s.Conditions = append(s.Conditions, w.conditions...)
	return s
}

// condition notes a condition and, if it has changed, since when it holds.
func (w *podWorker) condition(kind corev1.PodConditionType, ok bool, reason string) {
	c := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, ObservedGeneration: w.pod.Generation}
	if !ok {
		c.Status, c.Reason = corev1.ConditionFalse, reason
	}
	c.LastTransitionTime = seconds(w.kubelet.config.Clock.Now())
	for i, old := range w.conditions {
		if old.Type != kind {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		w.conditions[i] = c
		return
	}
	w.conditions = append(w.conditions, c)
}

func (w *podWorker) phase() corev1.PodPhase {
	if w.finished {
		for _, c := range w.all() {
			if t := c.seen.Terminated; t != nil && t.ExitCode != 0 {
				return corev1.PodFailed
			}
		}
		for _, c := range w.containers {
			if c.starts == 0 {
				// Deleted before it ran.
				return corev1.PodFailed
			}
		}
		return corev1.PodSucceeded
	}
	for _, c := range w.containers {
		if c.seen.Running == nil && c.seen.Terminated == nil && c.terminated == nil {
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}
