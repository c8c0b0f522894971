package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// roll makes a new revision of each of a contest's Deployments.
func (s *scene) roll(ctx context.Context, c *contest, leaderFirst bool) error {
	if leader := s.observer.leader(c); leaderFirst && leader != "" {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"-100"}}}`, corev1.PodDeletionCost)
		_, err := s.site.kube.CoreV1().Pods(namespace).Patch(ctx, leader, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	patch := fmt.Appendf(nil, `{"spec":{"template":{"metadata":{"annotations":{"rolled":%q}}}}}`, time.Now().Format(time.RFC3339Nano))
	for _, set := range c.sets {
		_, err := s.site.kube.AppsV1().Deployments(namespace).Patch(ctx, c.deployment(set), types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("rollout of %s: %w", c.deployment(set), err)
		}
	}
	s.journal.add(time.Now(), c.name, "a rollout begins")
	return nil
}
