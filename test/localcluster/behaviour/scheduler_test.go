package behaviour

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

const (
	older = "v1.36.3"
	newer = "v1.37.2"

	// soon bounds what should take no time; electing what may take a few terms
	// of the Leases used here.
	soon     = "15s"
	electing = "40s"
	often    = "50ms"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	return scheme
}

// Timings that are short enough to wait for a term to run out.
var (
	brisk = elector.Timings{LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond}
	// eager renews often.
	eager = elector.Timings{LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 100 * time.Millisecond}
	// quick is for electors that start in no time.
	quick = elector.Timings{LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 250 * time.Millisecond}
)

// container is the name of the only container of each Pod.
const container = "component"

// contest is a namespace with one Lease that kube-schedulers or other electors
// compete for. The Lease, the scheduler name and the service account have the
// namespace's name.
type contest struct {
	t         *testing.T
	namespace string
	times     elector.Timings
}

// newContest prepares a namespace for competitors with those timings.
func newContest(t *testing.T, times elector.Timings) *contest {
	t.Helper()
	g := NewWithT(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "contest-"}}
	g.Expect(client.Create(t.Context(), namespace)).To(Succeed())
	c := &contest{t: t, namespace: namespace.Name, times: times}
	t.Cleanup(func() { _ = client.Delete(context.Background(), namespace) })
	t.Cleanup(c.explain)
	t.Cleanup(c.neverTwo)
	c.allow()
	g.Expect(client.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace, Namespace: c.namespace},
		Data: map[string]string{"config.yaml": fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true, resourceNamespace: %[1]s, resourceName: %[1]s, leaseDuration: %[2]s, renewDeadline: %[3]s, retryPeriod: %[4]s}
profiles: [{schedulerName: %[1]s}]
`, c.namespace, times.LeaseDuration, times.RenewDeadline, times.RetryPeriod)},
	})).To(Succeed())
	return c
}

// allow lets the schedulers of the contest do what a scheduler does.
func (c *contest) allow() {
	c.t.Helper()
	g := NewWithT(c.t)
	meta := metav1.ObjectMeta{Name: c.namespace, Namespace: c.namespace}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: c.namespace, Namespace: c.namespace}}
	g.Expect(client.Create(c.t.Context(), &corev1.ServiceAccount{ObjectMeta: meta})).To(Succeed())
	g.Expect(client.Create(c.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"},
	}}})).To(Succeed())
	g.Expect(client.Create(c.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: c.namespace},
	})).To(Succeed())
	for _, role := range []string{"system:kube-scheduler", "system:volume-scheduler"} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: c.namespace + "-"}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
		g.Expect(client.Create(c.t.Context(), binding)).To(Succeed())
		c.t.Cleanup(func() { _ = client.Delete(context.Background(), binding) })
	}
}

// run starts a kube-scheduler of that version as a Pod on a node.
func (c *contest) run(name, version, node string) {
	c.t.Helper()
	c.start(name, node, corev1.Container{
		Image:        "kube-scheduler:" + version,
		Command:      []string{"kube-scheduler", "--config=/etc/scheduler/config.yaml", "--secure-port=0"},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/scheduler"}},
	}, func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: c.namespace}},
		}}}
	})
}

// start starts a Pod with one container on a node, once an earlier one of that
// name is gone.
func (c *contest) start(name, node string, run corev1.Container, change ...func(*corev1.Pod)) {
	c.t.Helper()
	run.Name = container
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace, Labels: map[string]string{"app": c.namespace}},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			ServiceAccountName:            c.namespace,
			TerminationGracePeriodSeconds: new(int64(5)),
			Containers:                    []corev1.Container{run},
		},
	}
	for _, f := range change {
		f(pod)
	}
	NewWithT(c.t).Eventually(func() error { return client.Create(c.t.Context(), pod.DeepCopy()) }, soon, often).Should(Succeed())
}

// running waits until the Pod is known to run.
func (c *contest) running(name string) {
	c.t.Helper()
	NewWithT(c.t).Eventually(func(g Gomega) {
		pod, err := kube.CoreV1().Pods(c.namespace).Get(c.t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pod.Status.Phase).To(Equal(corev1.PodRunning))
	}, soon, often).Should(Succeed())
}

// remove deletes a Pod, in its own time.
func (c *contest) remove(name string) {
	c.t.Helper()
	NewWithT(c.t).Expect(kube.CoreV1().Pods(c.namespace).Delete(c.t.Context(), name, metav1.DeleteOptions{})).To(Succeed())
}

// held is the Lease as it is.
func (c *contest) held() *coordinationv1.Lease {
	c.t.Helper()
	lease, err := kube.CoordinationV1().Leases(c.namespace).Get(c.t.Context(), c.namespace, metav1.GetOptions{})
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
	return lease
}

// holder is the name of the Pod that holds the Lease, "" if nobody does.
func (c *contest) holder() string {
	lease, err := kube.CoordinationV1().Leases(c.namespace).Get(c.t.Context(), c.namespace, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return name
}

// refused is what the Pod's own log says of its refused attempts.
func (c *contest) refused(name string) string {
	path, err := cluster.ContainerLog(c.namespace, name, container)
	if err != nil {
		return ""
	}
	return linesWith(path, refusal)
}

// leads waits until that Pod holds the Lease.
func (c *contest) leads(name string) {
	c.t.Helper()
	NewWithT(c.t).Eventually(c.holder, electing, often).Should(Equal(name))
}
