package certificates

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// The CA is taken away under three replicas, which make another one. The API
// server can call each of them all the while.
func TestTheCAIsReplaced(t *testing.T) {
	g := NewWithT(t)
	const replicas = 3
	s := newSite(t, func(*localcluster.Options, string) {})
	_, err := installation.Install(t.Context(), s.Cluster, installation.Options{Repository: repository, Program: s.program, Replicas: replicas})
	g.Expect(err).NotTo(HaveOccurred())
	s.govern()
	var address string
	g.Eventually(func() (err error) {
		address, err = s.webhookAddress(t.Context())
		return err
	}, soon, often).Should(Succeed())
	a := s.attemptForever(func(ctx context.Context) error { return s.trusted(ctx, "localhost", address) })

	secrets := s.kube.CoreV1().Secrets(installation.Namespace)
	before, err := secrets.Get(t.Context(), "leasewarden-ca", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.bundle(t.Context())).To(Equal(before.Data[corev1.TLSCertKey]))
	g.Expect(secrets.Delete(t.Context(), before.Name, metav1.DeleteOptions{})).To(Succeed())
	var after *corev1.Secret
	g.Eventually(func() (err error) {
		after, err = secrets.Get(t.Context(), "leasewarden-ca", metav1.GetOptions{})
		return err
	}, soon, often).Should(Succeed())
	old, current := string(before.Data[corev1.TLSCertKey]), string(after.Data[corev1.TLSCertKey])
	g.Expect(current).NotTo(Equal(old))
	g.Eventually(func() (string, error) {
		bundle, err := s.bundle(t.Context())
		return string(bundle), err
	}, soon, often).Should(Equal(current + old))

	// The replicas take turns at the address.
	g.Eventually(func(g Gomega) {
		for range 2 * replicas {
			_, err := handshake(t.Context(), address, "localhost", after.Data[corev1.TLSCertKey])
			g.Expect(err).NotTo(HaveOccurred())
		}
	}, soon, often).Should(Succeed(), "all serve leaves of the new CA")
	rulings, failures := a.stop()
	g.Expect(failures).To(BeEmpty())
	g.Expect(rulings).To(BeNumerically(">", 1000))
	t.Logf("%d attempts and connections, none failed", rulings)
}
