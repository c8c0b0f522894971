package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// relieve deletes the Pods whose container waits to be started again, so that
// others take their place: after many faults the kubelet waits for minutes, and
// the soak would mostly wait, too.
func (s *scene) relieve(ctx context.Context, v *view) {
	for i := range v.pods.Items {
		pod := &v.pods.Items[i]
		if !backsOff(pod) {
			continue
		}
		s.journal.add(time.Now(), v.contest.name, "%s waits to be started again, and is deleted", pod.Name)
		// What fails is tried again with the next look.
		_ = s.site.kube.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	}
}

func backsOff(pod *corev1.Pod) bool {
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil && waiting.Reason == "CrashLoopBackOff" {
			return pod.DeletionTimestamp == nil
		}
	}
	return false
}
