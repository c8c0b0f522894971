package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleteLeader deletes the Pod of a leader.
var deleteLeader = &fault{
	name: "leader's Pod deleted",
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		pod, err := s.leader(ctx)
		if err != nil {
			return nil, err
		}
		return nil, s.remove(ctx, pod)
	},
}

// remove deletes the Pod, in its own time.
func (s *scene) remove(ctx context.Context, pod string) error {
	s.journal.add(time.Now(), s.contest.name, "%s is deleted", pod)
	return s.site.kube.CoreV1().Pods(namespace).Delete(ctx, pod, metav1.DeleteOptions{})
}
