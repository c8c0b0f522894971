package production

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

const (
	soon  = 2 * time.Minute
	often = 200 * time.Millisecond
	// namespace is where the Leases are.
	namespace = "default"
)

// repository is the root of the checkout.
var repository = filepath.Join("..", "..", "..")

// site is a cluster with Leasewarden on it.
type site struct {
	*localcluster.Cluster
	kube    kubernetes.Interface
	client  client.Client
	builder *binaries.Builder
	warden  *installation.Installation
}

// newSite starts a cluster, until the test ends, with so many replicas.
func newSite(t *testing.T, replicas int) *site {
	t.Helper()
	g := NewWithT(t)
	log.SetLogger(logr.Discard())
	builder, err := binaries.New("", os.Stderr)
	g.Expect(err).NotTo(HaveOccurred())
	s := &site{builder: builder}
	program := s.program(t, "v0.1.0")
	s.Cluster, err = localcluster.Start(t.Context(), localcluster.Options{
		AuditPolicy: auditPolicy,
		// LeaseCandidates are beta, and off by default.
		APIServerArgs: map[string][]string{
			"feature-gates":  {"CoordinatedLeaderElection=true"},
			"runtime-config": {"coordination.k8s.io/v1beta1=true"},
		},
		Builder: builder, Out: os.Stderr,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { NewWithT(t).Expect(s.Stop()).To(Succeed()) })
	s.warden, err = installation.Install(t.Context(), s.Cluster, installation.Options{Repository: repository, Program: program, Replicas: replicas})
	g.Expect(err).NotTo(HaveOccurred())
	s.kube, err = kubernetes.NewForConfig(s.Config())
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	s.client, err = client.New(s.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// program is the leasewarden binary of that version.
func (s *site) program(t *testing.T, version string) string {
	t.Helper()
	path, err := s.builder.Package(t.Context(), repository, "./cmd/leasewarden", "-ldflags=-X main.version="+version)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return path
}

// govern makes a policy for the Lease of its name, whose candidates are the Pods
// with the label app of that value.
func (s *site) govern(t *testing.T, name string, change func(*v1alpha1.ElectionPolicySpec)) {
	t.Helper()
	p := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	p.Spec.Leases.Names = []string{name}
	p.Spec.Strategy.Name = v1alpha1.OldestEmulationVersion
	p.Spec.Candidates.Pods = podsOf(name)
	p.Spec.Preemption = v1alpha1.Preemption{MinTerm: &metav1.Duration{}, Cooldown: &metav1.Duration{}}
	change(&p.Spec)
	NewWithT(t).Expect(s.client.Create(t.Context(), p)).To(Succeed())
}

func podsOf(app string) *v1alpha1.PodCandidates {
	return &v1alpha1.PodCandidates{
		Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		Version:  &v1alpha1.VersionSource{FromLabel: "version"},
	}
}

// pod makes a Pod that is said to run. It belongs to no node, so that nobody says
// otherwise. labels are more labels of it.
func (s *site) pod(t *testing.T, app, name, version string, labels ...string) {
	t.Helper()
	g := NewWithT(t)
	all := map[string]string{"app": app, "version": version}
	for i := 0; i < len(labels); i += 2 {
		all[labels[i]] = labels[i+1]
	}
	pods := s.kube.CoreV1().Pods(namespace)
	var pod *corev1.Pod
	g.Eventually(func() (err error) { // the service account comes a moment later
		pod, err = pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: all},
			Spec:       corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "main", Image: "none"}}},
		}, metav1.CreateOptions{})
		return err
	}, soon, often).Should(Succeed())
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", ContainerID: "fake://" + name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	_, err := pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
}

// ends has the kubelet report that the Pod's container has ended.
func (s *site) ends(t *testing.T, name string) {
	t.Helper()
	g := NewWithT(t)
	pods := s.kube.CoreV1().Pods(namespace)
	pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	status := &pod.Status.ContainerStatuses[0]
	status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ContainerID: status.ContainerID, ExitCode: 1, StartedAt: status.State.Running.StartedAt, FinishedAt: metav1.NewTime(time.Now().Add(time.Second)),
	}}
	pod.Status.Phase = corev1.PodFailed
	_, err = pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
}

// hold has somebody acquire the Lease of that name, as soon as it may, or release
// it for "".
func (s *site) hold(t *testing.T, name, identity string) {
	t.Helper()
	leases := s.kube.CoordinationV1().Leases(namespace)
	NewWithT(t).Eventually(func() error {
		now := metav1.NowMicro()
		spec := coordinationv1.LeaseSpec{HolderIdentity: &identity, LeaseDurationSeconds: ptr.To[int32](600), AcquireTime: &now, RenewTime: &now}
		lease, err := leases.Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		lease.Spec = spec
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err
	}, soon, often).Should(Succeed())
}

// lease reads a Lease.
func (s *site) lease(t *testing.T, name string) func() (*coordinationv1.Lease, error) {
	return func() (*coordinationv1.Lease, error) {
		return s.kube.CoordinationV1().Leases(namespace).Get(t.Context(), name, metav1.GetOptions{})
	}
}
