package main

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	namespace  = "demo"
	appName    = "demo-scheduler"
	oldVersion = "v1.36.3"
	newVersion = "v1.37.2"

	// patience is how long one step of a round may take.
	patience = 2 * time.Minute
)

// round is one rolling update from the old version to the new one, watched.
type round struct {
	client   kubernetes.Interface
	auditLog string
	out      io.Writer

	started time.Time
	tally   *tally
}

// play runs the round and returns what it cost.
func (r *round) play(ctx context.Context, apply func(context.Context) error) (*tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.clear(ctx); err != nil {
		return nil, err
	}
	r.tally, r.started = newTally(), time.Now()
	events := make(chan event, 1024)
	if err := r.observe(ctx, events); err != nil {
		return nil, err
	}
	if err := apply(ctx); err != nil {
		return nil, err
	}
	if err := r.follow(ctx, events, "three replicas of "+oldVersion+" to run and one to lead", r.settledOn(oldVersion)); err != nil {
		return nil, err
	}
	r.say("rolling update to " + newVersion + " starts")
	if err := r.update(ctx); err != nil {
		return nil, err
	}
	err := r.follow(ctx, events, "the rolling update to end and a replica to lead", r.settledOn(newVersion))
	return r.tally, err
}

// observe starts to send events.
func (r *round) observe(ctx context.Context, events chan<- event) error {
	reader := &leaseReader{lease: appName}
	if err := reader.open(r.auditLog); err != nil {
		return err
	}
	go reader.read(ctx, events)
	return (&podWatcher{client: r.client, events: events}).watch(ctx)
}

// follow prints and counts events until done.
func (r *round) follow(ctx context.Context, events <-chan event, what string, done func() bool) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("waited %v for %s; look at the Pods in namespace %s", patience, what, namespace)
		case e := <-events:
			if err := r.take(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *round) take(ctx context.Context, e event) error {
	if r.tally.add(&e) {
		r.say(e.line())
	}
	if e.kind == leads {
		return r.replaceFirst(ctx, e.pod)
	}
	return nil
}

func (r *round) say(line string) {
	fmt.Fprintf(r.out, "%6.1fs  %s\n", time.Since(r.started).Seconds(), line)
}

// settledOn reports whether all replicas are of that version and one leads.
func (r *round) settledOn(version string) func() bool {
	return func() bool {
		for _, v := range r.tally.running {
			if v != version {
				return false
			}
		}
		return len(r.tally.running) == 3 && r.tally.running[r.tally.leader] != ""
	}
}

// replaceFirst makes the leader the first replica that the rolling update
// replaces, so that both rounds are the worst case: a new leader each time.
func (r *round) replaceFirst(ctx context.Context, pod string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"-100"}}}`, corev1.PodDeletionCost)
	_, err := r.client.CoreV1().Pods(namespace).Patch(ctx, pod, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (r *round) update(ctx context.Context) error {
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"kube-scheduler:%s"}]`, newVersion)
	_, err := r.client.AppsV1().Deployments(namespace).Patch(ctx, appName, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// clear removes what the round before left.
func (r *round) clear(ctx context.Context) error {
	err := r.client.AppsV1().Deployments(namespace).Delete(ctx, appName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		pods, err := r.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + appName})
		return err == nil && len(pods.Items) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("the Pods of the round before did not end: %w", err)
	}
	err = r.client.CoordinationV1().Leases(namespace).Delete(ctx, appName, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
