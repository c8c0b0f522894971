package main

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// podWatcher turns what the API server knows of the replicas into events.
type podWatcher struct {
	client kubernetes.Interface
	events chan<- event
}

// watch sends events until ctx ends. It returns once it knows the present Pods.
func (w *podWatcher) watch(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(w.client, 0,
		informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "app=" + appName }))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { w.changed(nil, obj.(*corev1.Pod)) },
		UpdateFunc: func(old, obj any) { w.changed(old.(*corev1.Pod), obj.(*corev1.Pod)) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	return ctx.Err()
}

func (w *podWatcher) changed(old, pod *corev1.Pod) {
	if old == nil {
		old = &corev1.Pod{}
		w.send(podSeen, pod, pod.CreationTimestamp.Time)
	}
	if !runs(old) && runs(pod) {
		w.send(podRuns, pod, time.Now())
	}
	if old.DeletionTimestamp == nil && pod.DeletionTimestamp != nil {
		w.send(podStops, pod, time.Now())
	}
	if end := ended(pod); !end.IsZero() && ended(old).IsZero() {
		w.send(podEnded, pod, end)
	}
}

func (w *podWatcher) send(k kind, pod *corev1.Pod, at time.Time) {
	w.events <- event{at: at, kind: k, pod: pod.Name, version: versionOf(pod)}
}

func runs(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// ended is when the replica's container ended, zero if it has not.
func ended(pod *corev1.Pod) time.Time {
	for _, status := range pod.Status.ContainerStatuses {
		if terminated := status.State.Terminated; terminated != nil {
			return terminated.FinishedAt.Time
		}
	}
	return time.Time{}
}

// versionOf is the tag of the image that the replica runs.
func versionOf(pod *corev1.Pod) string {
	_, tag, _ := strings.Cut(pod.Spec.Containers[0].Image, ":")
	return tag
}
