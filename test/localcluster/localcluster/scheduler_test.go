package localcluster_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// An older kube-scheduler runs as a pod, takes its lease, and schedules the
// pods that name it.
func TestOlderSchedulerRunsAsPod(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	const name = "second-scheduler"
	account, err := client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: namespace}}
	for _, role := range []string{"system:kube-scheduler", "system:volume-scheduler"} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"},
			Subjects:   subjects,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
		binding, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() {
			_ = client.RbacV1().ClusterRoleBindings().Delete(context.Background(), binding.Name, metav1.DeleteOptions{})
		})
	}
	// The predefined role is for the lease kube-scheduler in kube-system.
	_, err = client.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"},
		}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data: map[string]string{"config.yaml": `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceNamespace: ` + namespace + `
  resourceName: ` + name + `
profiles:
- schedulerName: ` + name + `
`},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	createDeployment(t, namespace, name, 1, corev1.PodSpec{
		ServiceAccountName: account.Name,
		Containers: []corev1.Container{{
			Name:         container,
			Image:        localcluster.ComponentImage(binaries.Component{Name: localcluster.Scheduler, Version: "1.36.3"}),
			Command:      []string{"kube-scheduler", "--config=/etc/scheduler/config.yaml", "--secure-port=0"},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/scheduler"}},
		}},
		Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: name},
		}}}},
	})
	pod := podsOf(t, namespace, name)[0]
	g.Eventually(func(g Gomega) {
		lease, err := client.CoordinationV1().Leases(namespace).Get(t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(*lease.Spec.HolderIdentity).To(HavePrefix(pod.Name + "_"))
	}, "30s", "100ms").Should(Succeed())

	scheduled := podSpec("serve")
	scheduled.SchedulerName = name
	createPod(t, namespace, "scheduled", scheduled)
	g.Eventually(getPod(t, namespace, "scheduled"), "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodRunning))
}
