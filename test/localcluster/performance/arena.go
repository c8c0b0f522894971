package main

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	// app is the Lease, the policy and the label of the Pods of an arena; probed
	// is a Lease that stays vacant.
	app    = "app"
	probed = "probed"
	// chosenPod is the candidate of the oldest version.
	chosenPod = "app-0"
	// replicas are the candidates of each Lease.
	replicas = 3
)

// arena is the name of a Namespace in which writes to one Lease are measured.
func arena(i int) string { return fmt.Sprintf("arena-%d", i) }

// makeArenas makes so many, if they are not there. The first has Pods.
func (b *bench) makeArenas(ctx context.Context, n int) error {
	for i := range n {
		err := b.makeNamespace(ctx, arena(i))
		if err != nil {
			return err
		}
		leases := []*coordinationv1.Lease{newLease(arena(i), app, ""), newLease(arena(i), probed, "")}
		for _, l := range leases {
			if err := ctrlclient.IgnoreAlreadyExists(b.client.Create(ctx, l)); err != nil {
				return err
			}
		}
	}
	for i := range replicas {
		if err := b.makePod(ctx, arena(0), app, i); err != nil {
			return err
		}
	}
	return nil
}

// governArenas has exactly the first so many governed.
func (b *bench) governArenas(ctx context.Context, n int) error {
	for i := range max(n, b.policies) {
		policy := newPolicy(arena(i), app, probed)
		if i < n {
			if err := ctrlclient.IgnoreAlreadyExists(b.client.Create(ctx, policy)); err != nil {
				return err
			}
		} else if err := ctrlclient.IgnoreNotFound(b.client.Delete(ctx, policy)); err != nil {
			return err
		}
	}
	return nil
}

// newPolicy governs Leases whose Pods bear their names.
func newPolicy(namespace string, leases ...string) *v1alpha1.ElectionPolicy {
	return &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app}, Spec: v1alpha1.ElectionPolicySpec{
		Leases: v1alpha1.LeaseSelection{Names: leases},
		Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
			Selector:  metav1.LabelSelector{MatchLabels: map[string]string{"governed": "true"}},
			LeaseName: &v1alpha1.FieldSource{FromLabel: "lease"},
			Version:   &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{}},
		}},
		Strategy: v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion},
	}}
}

// makeNamespace makes one in which Pods can be made, which the stopped
// controllers do not see to.
func (b *bench) makeNamespace(ctx context.Context, name string) error {
	for _, o := range []ctrlclient.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}},
	} {
		if err := ctrlclient.IgnoreAlreadyExists(b.client.Create(ctx, o)); err != nil {
			return err
		}
	}
	return nil
}

// makePod makes the candidate of that number of a Lease, which runs on a node
// that there is not. The first is of the oldest version.
func (b *bench) makePod(ctx context.Context, namespace, lease string, i int) error {
	pods := b.kube.CoreV1().Pods(namespace)
	pod, err := pods.Create(ctx, newPod(namespace, lease, i), metav1.CreateOptions{})
	if err != nil {
		return ctrlclient.IgnoreAlreadyExists(err)
	}
	started := metav1.Now()
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &started, PodIP: "10.0.0.1",
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: started}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: app, Ready: true, Started: ptr.To(true), Image: pod.Spec.Containers[0].Image, ContainerID: "containerd://0123456789abcdef",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		}},
	}
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

func newPod(namespace, lease string, i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("%s-%d", lease, i),
			Labels: map[string]string{"governed": "true", "lease": lease, "app.kubernetes.io/name": lease},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("elsewhere-%d", i), AutomountServiceAccountToken: ptr.To(false),
			Containers: []corev1.Container{{
				Name: app, Image: fmt.Sprintf("registry.example.com/app:v1.36.%d", i), Args: []string{"--leader-elect=true"},
				Env: []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
			}},
		},
	}
}

// resting is the term of a Lease that nobody renews meanwhile.
const resting = time.Hour

// newLease is one that is held by that identity, or by nobody.
func newLease(namespace, name, holder string) *coordinationv1.Lease {
	now := metav1.NowMicro()
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To(int32(resting.Seconds())), LeaseTransitions: ptr.To[int32](0)},
	}
	if holder != "" {
		l.Spec.HolderIdentity, l.Spec.AcquireTime, l.Spec.RenewTime = &holder, &now, &now
	}
	return l
}

// identity is what the candidate of that number writes as the holder.
func identity(lease string, i int) string {
	return fmt.Sprintf("%s-%d_6f1c1f3e-6a0b-4a55-9d3b-2c8f4f8a7b10", lease, i)
}
