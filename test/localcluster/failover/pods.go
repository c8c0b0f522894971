package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// replicas is how many electors share a Lease.
const replicas = 3

// ending is what an elector does when it ends, or has lost its Lease: like the
// components of Kubernetes, it ends in the second case. Not all release it.
type ending string

const (
	releases ending = "-release=true"
	keeps    ending = "-release=false"
)

// slowStart has an elector start slowly, as many components do: one that was
// killed and restarted at once does not get ahead of the other replicas.
const slowStart = "-after=10s"

// elector is the container that competes.
func (l *lane) elector(version string, e ending, more ...string) corev1.Container {
	args := append([]string{"elect", "-once", string(e)}, more...)
	if l.coordinated {
		args = append(args, "-coordinated="+version)
	}
	args = append(args, appName, leaseDuration.String(), renewDeadline.String(), retryPeriod.String())
	return corev1.Container{Name: container, Image: image + ":v" + version, Args: args}
}

// deploy starts the electors as a Deployment, and waits until one leads.
func (l *lane) deploy(ctx context.Context, e ending, more ...string) error {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels()},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{l.elector(oldVersion, e, more...)}},
	}
	err := l.client.Create(ctx, &appsv1.Deployment{ObjectMeta: l.meta(appName), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(replicas)), Selector: &metav1.LabelSelector{MatchLabels: labels()}, Template: template,
		MinReadySeconds: minReadySeconds,
	}})
	if err != nil {
		return err
	}
	return l.settle(ctx)
}

// rolledOut reports whether there are no Pods but those of the last revision,
// and all of them run.
func (l *lane) rolledOut(ctx context.Context) (bool, error) {
	d, err := l.kube.AppsV1().Deployments(l.namespace).Get(ctx, appName, metav1.GetOptions{})
	if err != nil || d.Status.ObservedGeneration != d.Generation || d.Status.UpdatedReplicas != replicas || d.Status.AvailableReplicas != replicas {
		return false, nil
	}
	running, err := l.running(ctx)
	return len(running) == replicas, err
}

// running lists the Pods, or nothing if one of them is not running.
func (l *lane) running(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := l.kube.CoreV1().Pods(l.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil
	}
	for i := range pods.Items {
		if !runs(&pods.Items[i]) {
			return nil, nil
		}
	}
	return pods.Items, nil
}

// runs reports whether the Pod's container runs and is to go on.
func runs(pod *corev1.Pod) bool {
	statuses := pod.Status.ContainerStatuses
	return pod.DeletionTimestamp == nil && len(statuses) == 1 && statuses[0].State.Running != nil
}
