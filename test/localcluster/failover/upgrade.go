package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// look is how long an operator looks at a node before going on to the next.
const look = 5 * time.Second

// upgrade replaces one Pod per node, node by node, and then goes back.
var upgrade = &scenario{
	name: "upgrade", title: "Upgrade and rollback node by node, OldestEmulationVersion",
	prepare: func(ctx context.Context, l *lane) error {
		err := l.govern(ctx, v1alpha1.OldestEmulationVersion, v1alpha1.Preemption{
			When: v1alpha1.PreemptForBetter, MinTerm: &metav1.Duration{}, Cooldown: &metav1.Duration{Duration: time.Second},
		})
		if err != nil {
			return err
		}
		for _, node := range nodes {
			if err := l.start(ctx, node, oldVersion); err != nil {
				return err
			}
		}
		return l.afterNode(ctx)
	},
	round: func(ctx context.Context, l *lane) ([]float64, error) {
		began := time.Now()
		watched, err := l.watchPods(ctx)
		if err != nil {
			return nil, err
		}
		defer watched.stop()
		for _, version := range []string{newVersion, oldVersion} {
			for _, node := range nodes {
				if err := l.replace(ctx, node, version); err != nil {
					return nil, err
				}
			}
		}
		terms, err := l.terms(began)
		return []float64{float64(watched.skews(terms)), float64(len(terms))}, err
	},
	figures: []figure{
		{name: "newer elected, older available", unit: skews, target: target{exactly: true}},
		{name: "- changes, there and back", unit: changes},
	},
}

// podOn is the name of the Pod on a node.
func podOn(node string) string { return appName + "-" + node }

func (l *lane) start(ctx context.Context, node, version string) error {
	return l.client.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: podOn(node), Labels: labels()},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{l.elector(version, releases)}},
	})
}

// replace replaces the Pod on a node by one of another version.
func (l *lane) replace(ctx context.Context, node, version string) error {
	pods := l.kube.CoreV1().Pods(l.namespace)
	if err := pods.Delete(ctx, podOn(node), metav1.DeleteOptions{}); err != nil {
		return err
	}
	err := l.await(ctx, "the Pod on "+node+" to end", func(ctx context.Context) (bool, error) {
		_, err := pods.Get(ctx, podOn(node), metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return err
	}
	if err := l.start(ctx, node, version); err != nil {
		return err
	}
	return l.afterNode(ctx)
}

// afterNode waits until a node can be left alone: all run, and one has led for a
// while.
func (l *lane) afterNode(ctx context.Context) error {
	var since time.Time
	return l.await(ctx, "all replicas to run and one to lead", func(ctx context.Context) (bool, error) {
		running, err := l.running(ctx)
		if err != nil {
			return false, err
		}
		if ok, err := l.leads(ctx); !ok || err != nil || len(running) != len(nodes) {
			since = time.Time{}
			return false, err
		}
		if since.IsZero() {
			since = time.Now()
		}
		return time.Since(since) >= look, nil
	})
}
