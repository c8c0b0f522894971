package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// admission has the API server present a certificate to webhooks. It takes the
// path of the kubeconfig.
const admission = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: %[1]s
- name: MutatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: %[1]s
`

// pki is what somebody brings along: a CA, and files with what it issued.
type pki struct {
	*issuer
	t   *testing.T
	dir string
}

func (p *pki) path(name string) string { return filepath.Join(p.dir, name) }

func (p *pki) write(name string, content []byte) {
	p.t.Helper()
	g := NewWithT(p.t)
	g.Expect(os.WriteFile(p.path(name)+".new", content, 0o600)).To(Succeed())
	g.Expect(os.Rename(p.path(name)+".new", p.path(name))).To(Succeed())
}

// serving writes a new serving certificate.
func (p *pki) serving(valid time.Duration) {
	p.t.Helper()
	certificate, key := p.issue(p.t, "localhost", valid, x509.ExtKeyUsageServerAuth)
	p.write("tls.crt", certificate)
	p.write("tls.key", key)
}

// admissionConfiguration writes what the API server needs, and returns its path.
func (p *pki) admissionConfiguration() string {
	p.t.Helper()
	certificate, key := p.issue(p.t, "kube-apiserver", time.Hour, x509.ExtKeyUsageClientAuth)
	NewWithT(p.t).Expect(clientcmd.WriteToFile(clientcmdapi.Config{
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"*": {ClientCertificateData: certificate, ClientKeyData: key}},
	}, p.path("webhooks.kubeconfig"))).To(Succeed())
	p.write("admission.yaml", fmt.Appendf(nil, admission, p.path("webhooks.kubeconfig")))
	return p.path("admission.yaml")
}

// People bring certificates of their own, for Leasewarden and for the API
// server, of which Leasewarden demands one.
func TestCertificatesOfOnesOwn(t *testing.T) {
	g := NewWithT(t)
	p := &pki{issuer: newIssuer(t), t: t, dir: t.TempDir()}
	p.serving(time.Hour)
	p.write("ca.crt", p.pem)
	s := newSite(t, func(o *localcluster.Options, _ string) {
		o.APIServerArgs = map[string][]string{"admission-control-config-file": {p.admissionConfiguration()}}
	})
	in, err := installation.Install(t.Context(), s.Cluster, installation.Options{
		Repository: repository, Program: s.program, Replicas: 2,
		Args: []string{
			"--tls-cert-file=" + p.path("tls.crt"), "--tls-private-key-file=" + p.path("tls.key"),
			"--client-ca-file=" + p.path("ca.crt"), "--tls-min-version=1.2",
		},
	})
	g.Expect(err).NotTo(HaveOccurred())
	s.govern()
	g.Eventually(func() error { return s.attempt(t.Context()) }, soon, often).Should(Succeed(), "the API server has a certificate")
	g.Expect(s.bundle(t.Context())).To(Equal(p.pem))
	_, err = s.kube.CoreV1().Secrets(installation.Namespace).Get(t.Context(), "leasewarden-ca", metav1.GetOptions{})
	g.Expect(err).To(MatchError(ContainSubstring("not found")), "there is no CA of our own")

	address, err := s.webhookAddress(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	certificate, key := p.issue(t, "somebody", time.Hour, x509.ExtKeyUsageClientAuth)
	own, err := tls.X509KeyPair(certificate, key)
	g.Expect(err).NotTo(HaveOccurred())
	for version, refusal := range map[uint16]string{tls.VersionTLS12: "tls: handshake failure", tls.VersionTLS13: "tls: certificate required"} {
		g.Expect(call(t, address, p.pem, version, own)).To(Succeed())
		g.Expect(call(t, address, p.pem, version)).To(MatchError(ContainSubstring(refusal)))
	}

	// The next certificate is taken over; a bad one is not, and is told of.
	a := s.attemptForever(nil)
	before, err := handshake(t.Context(), address, "localhost", p.pem, own)
	g.Expect(err).NotTo(HaveOccurred())
	p.serving(2 * time.Hour)
	g.Eventually(func() (bool, error) {
		after, err := handshake(t.Context(), address, "localhost", p.pem, own)
		return err == nil && !after.Equal(before), err
	}, soon, often).Should(BeTrue())
	_, stranger := p.issue(t, "localhost", time.Hour, x509.ExtKeyUsageServerAuth)
	p.write("tls.key", stranger)
	g.Eventually(func() ([]string, error) { return s.events("CertificateMismatch") }, soon, often).
		Should(ContainElement(And(ContainSubstring("Namespace/leasewarden-system"), ContainSubstring(p.path("tls.key")))))
	g.Expect(in.Start(t.Context())).To(Succeed(), "all are still ready")
	rulings, failures := a.stop()
	g.Expect(failures).To(BeEmpty())
	g.Expect(rulings).To(BeNumerically(">", 100))
}

// call makes a request, of which the answer does not matter. By TLS 1.3 a client
// gets to know only then that it was refused.
func call(t *testing.T, address string, bundle []byte, version uint16, own ...tls.Certificate) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, Certificates: own, MaxVersion: version,
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Get("https://" + address)
	if err == nil {
		response.Body.Close()
	}
	return err
}

// events returns the objects and the notes of the Events with that reason.
func (s *site) events(reason string) ([]string, error) {
	list, err := s.kube.EventsV1().Events(installation.Namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range list.Items {
		if e.Reason == reason {
			found = append(found, fmt.Sprintf("%s/%s %s", e.Regarding.Kind, e.Regarding.Name, e.Note))
		}
	}
	return found, nil
}
