package candidates

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// noContainerRuns is what makes a Pod unavailable whose process has ended, and
// was not started again yet: in a crash loop that takes minutes.
const noContainerRuns = "no container of the Pod runs"

// stopped says when the container of that name ended, or the last one if no name
// is given, by what the kubelet reports. Zero: one runs, or nobody says.
func stopped(pod *corev1.Pod, container string) time.Time {
	var last time.Time
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		if container != "" && s.Name != container {
			continue
		}
		if s.State.Running != nil {
			return time.Time{}
		}
		if end := finished(s); end.After(last) {
			last = end
		}
	}
	return last
}

// finished is when a container ended last. Zero: it never did.
func finished(s *corev1.ContainerStatus) time.Time {
	switch {
	case s.State.Terminated != nil:
		return s.State.Terminated.FinishedAt.Time
	case s.LastTerminationState.Terminated != nil:
		return s.LastTerminationState.Terminated.FinishedAt.Time
	}
	return time.Time{}
}
