package certificates

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

const (
	soon  = 2 * time.Minute
	often = 200 * time.Millisecond
)

// repository is the root of the checkout.
var repository = filepath.Join("..", "..", "..")

// site is a cluster for one test.
type site struct {
	*localcluster.Cluster
	t       *testing.T
	kube    kubernetes.Interface
	client  ctrlclient.Client
	builder *binaries.Builder
	// program is the leasewarden binary.
	program string
}

// newSite starts a cluster, until the test ends. prepare may change what is
// started, and is told of the leasewarden binary.
func newSite(t *testing.T, prepare func(o *localcluster.Options, program string)) *site {
	t.Helper()
	g := NewWithT(t)
	log.SetLogger(logr.Discard())
	s := &site{t: t}
	var err error
	s.builder, err = binaries.New("", os.Stderr)
	g.Expect(err).NotTo(HaveOccurred())
	s.program, err = s.builder.Package(t.Context(), repository, "./cmd/leasewarden", "-race")
	g.Expect(err).NotTo(HaveOccurred())
	options := localcluster.Options{Builder: s.builder, Out: os.Stderr}
	prepare(&options, s.program)
	s.Cluster, err = localcluster.Start(t.Context(), options)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		s.explain()
		NewWithT(t).Expect(s.Stop()).To(Succeed())
	})
	s.kube, err = kubernetes.NewForConfig(s.Config())
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	s.client, err = ctrlclient.New(s.Config(), ctrlclient.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// explain shows what those involved said, if the test has failed.
func (s *site) explain() {
	if !s.t.Failed() {
		return
	}
	logs, err := s.ContainerLogs(installation.Namespace)
	if err != nil {
		s.t.Log(err)
	}
	hosts, err := filepath.Glob(filepath.Join(s.Dir(), "logs", "*.log"))
	if err != nil {
		s.t.Log(err)
	}
	for _, path := range append(logs, hosts...) {
		if name := filepath.Base(path); strings.HasPrefix(name, "leasewarden") || strings.HasPrefix(name, "cert-manager") || slices.Contains(logs, path) {
			s.t.Logf("%s:\n%s", path, tail(path))
		}
	}
	events, err := s.kube.EventsV1().Events(installation.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.t.Log(err)
		return
	}
	for _, e := range events.Items {
		s.t.Logf("%s %s/%s: %s", e.Reason, e.Regarding.Kind, e.Regarding.Name, e.Note)
	}
}

// tail returns the last lines of a file.
func tail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := slices.Collect(strings.Lines(string(content)))
	return strings.Join(lines[max(0, len(lines)-15):], "")
}

// configuration is the registration of the webhook.
func (s *site) configuration(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	return s.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "leasewarden", metav1.GetOptions{})
}

// bundle is the CAs that the API server is told to trust.
func (s *site) bundle(ctx context.Context) ([]byte, error) {
	c, err := s.configuration(ctx)
	if err != nil {
		return nil, err
	}
	return c.Webhooks[0].ClientConfig.CABundle, nil
}

// govern has Leases named lease in the default namespace governed, and nothing
// admitted while Leasewarden cannot be asked.
func (s *site) govern() {
	s.t.Helper()
	policy := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "strict"}}
	policy.Spec.Leases.Names = []string{leaseName}
	policy.Spec.FailurePolicy = v1alpha1.Fail
	policy.Spec.Strategy.Name = v1alpha1.FirstCome
	NewWithT(s.t).Expect(s.client.Create(s.t.Context(), policy)).To(Succeed())
}
