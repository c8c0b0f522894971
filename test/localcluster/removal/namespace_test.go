// Package removal tests what remains when Leasewarden is taken away. Each of its
// tests has a cluster of its own.
package removal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// configuration is the name of both webhook configurations.
const configuration = "leasewarden"

// A namespace that is deleted outright, with nobody left to tidy up, takes the
// webhook configurations with it: no Lease stays locked up.
func TestNamespaceIsDeleted(t *testing.T) {
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(2 * time.Minute)
	g.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	kube, policies, warden := install(t)

	policy := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "strict"}}
	policy.Spec.Leases.Names = []string{"lease"}
	policy.Spec.FailurePolicy = v1alpha1.Fail
	policy.Spec.Strategy.Name = v1alpha1.FirstCome
	g.Expect(policies.Create(t.Context(), policy)).To(Succeed())

	acquire := func(options ...string) error {
		_, err := kube.CoordinationV1().Leases("default").Create(t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "lease"},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("somebody"), LeaseDurationSeconds: ptr.To[int32](15)},
		}, metav1.CreateOptions{DryRun: options})
		return err
	}
	g.Eventually(func() error { return acquire(metav1.DryRunAll) }).Should(MatchError(ContainSubstring("not a registered candidate")))
	g.Expect(warden.Kill()).To(Succeed())
	g.Expect(acquire()).To(MatchError(ContainSubstring("failed calling webhook")))

	g.Expect(kube.CoreV1().Namespaces().Delete(t.Context(), installation.Namespace, metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() error { return acquire() }).Should(Succeed())
	configurations := kube.AdmissionregistrationV1()
	g.Eventually(func(g Gomega) {
		validating, err := configurations.ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(validating.Items).NotTo(ContainElement(HaveField("Name", configuration)))
		mutating, err := configurations.MutatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(mutating.Items).NotTo(ContainElement(HaveField("Name", configuration)))
	}).Should(Succeed())
}

// install installs Leasewarden on a new cluster, until the test ends.
func install(t *testing.T) (kubernetes.Interface, client.Client, *installation.Installation) {
	t.Helper()
	g := NewWithT(t)
	repository := filepath.Join("..", "..", "..")
	builder, err := binaries.New("", os.Stderr)
	g.Expect(err).NotTo(HaveOccurred())
	program, err := builder.Package(t.Context(), repository, "./cmd/leasewarden", "-race")
	g.Expect(err).NotTo(HaveOccurred())
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{Builder: builder, Out: os.Stderr})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { NewWithT(t).Expect(cluster.Stop()).To(Succeed()) })
	warden, err := installation.Install(t.Context(), cluster, installation.Options{Repository: repository, Program: program})
	g.Expect(err).NotTo(HaveOccurred())

	kube, err := kubernetes.NewForConfig(cluster.Config())
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	policies, err := client.New(cluster.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return kube, policies, warden
}
