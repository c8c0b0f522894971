package localcluster_test

import (
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// Faults are injected into a cluster of their own: the others' tests would not
// like an API server that is away.
func TestComponentsAndNodesCanFailAndComeBack(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	program, err := builder.Package(t.Context(), "..", "./testprogram")
	g.Expect(err).NotTo(HaveOccurred())
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{
		Images:      map[string]string{testImage: program},
		AuditPolicy: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, resources: [{group: coordination.k8s.io}]}]\n",
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(cluster.Stop()).To(Succeed()) })
	client, err := kubernetes.NewForConfig(cluster.Config())
	g.Expect(err).NotTo(HaveOccurred())
	get := func(g Gomega) *corev1.Pod {
		pod, err := client.CoreV1().Pods("default").Get(t.Context(), "survivor", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return pod
	}
	_, err = client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "survivor"}, Spec: podSpec("serve"),
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(get, "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodRunning))
	g.Expect(cluster.AuditLog()).To(BeARegularFile())

	// Killed and started again, with its data and at its address.
	for _, name := range []string{localcluster.APIServer, localcluster.Etcd} {
		g.Expect(cluster.SignalComponent(name, syscall.SIGKILL)).To(Succeed())
		g.Expect(cluster.StartComponent(t.Context(), name)).To(Succeed())
	}
	// Hung, and stopped nevertheless.
	g.Expect(cluster.SignalComponent(localcluster.Scheduler, syscall.SIGSTOP)).To(Succeed())
	for _, name := range []string{localcluster.ControllerManager, localcluster.Scheduler} {
		g.Expect(cluster.StopComponent(name)).To(Succeed())
		g.Expect(cluster.StartComponent(t.Context(), name)).To(Succeed())
	}
	g.Eventually(get, "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodRunning))
	for _, status := range cluster.Status() {
		g.Expect(status.Running).To(BeTrue(), status.Name)
	}

	// A crashed node reports nothing until it is back.
	g.Expect(cluster.CrashNode("node-1")).To(Succeed())
	g.Eventually(func() error {
		_, err := cluster.PodProcess("default", "survivor", container)
		return err
	}, "10s", "50ms").ShouldNot(Succeed())
	g.Consistently(get, "2s", "100ms").Should(HaveField("Status.ContainerStatuses", ConsistOf(HaveField("State.Running", Not(BeNil())))))
	g.Expect(cluster.StartKubelet("node-1")).To(Succeed())
	g.Eventually(get, "40s", "100ms").Should(HaveField("Status.ContainerStatuses", ConsistOf(
		HaveField("RestartCount", BeEquivalentTo(1)),
	)))

	_, err = localcluster.Start(t.Context(), localcluster.Options{Dir: cluster.Dir()})
	g.Expect(err).To(MatchError(ContainSubstring("has the files of another cluster")))
	g.Expect(cluster.CrashNode("node-9")).To(MatchError(ContainSubstring(`no node "node-9"`)))
	g.Expect(cluster.StopComponent("kube-proxy")).To(MatchError(ContainSubstring("choose one of etcd, kube-apiserver")))
}
