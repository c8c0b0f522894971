package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// deploy creates everything that competes, and the policies.
func (s *site) deploy(ctx context.Context) error {
	objects := []ctrlclient.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		probePolicy(),
	}
	for _, c := range contests {
		objects = append(objects, c.objects()...)
	}
	for _, o := range objects {
		if err := s.client.Create(ctx, o); err != nil {
			return fmt.Errorf("%T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

func (c *contest) objects() []ctrlclient.Object {
	objects := []ctrlclient.Object{
		&corev1.ServiceAccount{ObjectMeta: c.meta()},
		// What the electors may do is no part of the soak.
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + c.name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: c.name, Namespace: namespace}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		},
		&corev1.ConfigMap{ObjectMeta: c.meta(), Data: map[string]string{"config.yaml": schedulerConfig(c)}},
		c.policy(),
	}
	for _, set := range c.sets {
		objects = append(objects, c.electors(set))
	}
	return objects
}

func (c *contest) policy() *v1alpha1.ElectionPolicy {
	policy := &v1alpha1.ElectionPolicy{ObjectMeta: c.meta(), Spec: *c.spec.DeepCopy()}
	policy.Spec.Leases.Names = []string{c.name}
	policy.Spec.Candidates.Pods = &v1alpha1.PodCandidates{
		Selector: metav1.LabelSelector{MatchLabels: c.labels()},
		Version:  &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{Container: container}},
	}
	return policy
}

// electors is the Deployment of a set. Its rollouts take one Pod after the other.
func (c *contest) electors(s set) *appsv1.Deployment {
	labels := c.labels()
	labels["version"] = s.version
	run := c.run(c, s.version)
	run.Name = container
	// klog writes local times without a zone.
	run.Env = []corev1.EnvVar{{Name: "TZ", Value: "UTC"}}
	meta := c.meta()
	meta.Name = c.deployment(s)
	return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: new(s.replicas), Selector: &metav1.LabelSelector{MatchLabels: labels},
		MinReadySeconds: 2,
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
		}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				ServiceAccountName: c.name, TerminationGracePeriodSeconds: new(int64(5)), Containers: []corev1.Container{run},
				Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: c.name}},
				}}},
			},
		},
	}}
}
