package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	// minReadySeconds is how long a rolling update looks at a new Pod before it
	// goes on.
	minReadySeconds = 5
	// quiet is how long there must be no new leader until a change counts as over.
	quiet = 20 * time.Second
)

// rollout replaces all replicas, the leader first each time: the worst case.
var rollout = &scenario{
	name: "rollout", title: "A rolling update of 3 replicas, strategy RolloutAware",
	prepare: func(ctx context.Context, l *lane) error {
		err := l.govern(ctx, v1alpha1.RolloutAware, v1alpha1.Preemption{When: v1alpha1.PreemptAfterRollout, MinTerm: &metav1.Duration{}})
		if err != nil {
			return err
		}
		return l.deploy(ctx, releases)
	},
	round: func(ctx context.Context, l *lane) ([]float64, error) {
		if err := l.atRandom(ctx); err != nil {
			return nil, err
		}
		started := time.Now()
		if err := l.update(ctx, started); err != nil {
			return nil, err
		}
		err := l.await(ctx, "the end of the rolling update", func(ctx context.Context) (bool, error) {
			if err := l.replaceLeaderFirst(ctx); err != nil {
				return false, err
			}
			return l.rolledOut(ctx)
		})
		if err != nil {
			return nil, err
		}
		terms, err := l.untilQuiet(ctx, started)
		return []float64{float64(terms)}, err
	},
	figures: []figure{{name: "changes in a rollout of 3", unit: changes, target: target{exactly: true, worst: 1}}},
}

// update makes a new revision of the Deployment. Its version is the same.
func (l *lane) update(ctx context.Context, at time.Time) error {
	if err := l.replaceLeaderFirst(ctx); err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"spec":{"template":{"metadata":{"annotations":{"updated":%q}}}}}`, at.Format(time.RFC3339Nano))
	_, err := l.kube.AppsV1().Deployments(l.namespace).Patch(ctx, appName, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// replaceLeaderFirst has the present leader be the first to be replaced.
func (l *lane) replaceLeaderFirst(ctx context.Context) error {
	identity, err := l.holder(ctx)
	if err != nil || identity == "" {
		return err
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"-100"}}}`, corev1.PodDeletionCost)
	_, err = l.kube.CoreV1().Pods(l.namespace).Patch(ctx, podOf(identity), types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// untilQuiet waits until one leads and nobody has begun to for a while, and
// counts who began to lead since that moment.
func (l *lane) untilQuiet(ctx context.Context, since time.Time) (terms int, err error) {
	err = l.await(ctx, "a leader that stays", func(ctx context.Context) (bool, error) {
		began, err := l.terms(since)
		if err != nil {
			return false, err
		}
		terms = len(began)
		if terms > 0 && time.Since(began[terms-1].At) < quiet {
			return false, nil
		}
		return l.leads(ctx)
	})
	return terms, err
}
