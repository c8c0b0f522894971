package certs

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestClientsNeedACertificate(t *testing.T) {
	g := NewWithT(t)
	now := time.Now().Add(-time.Minute)
	trusted, stranger := newIssuer(t, now), newIssuer(t, now)
	path := filepath.Join(t.TempDir(), "ca.crt")
	g.Expect(os.WriteFile(path, trusted.pem(), 0o600)).To(Succeed())
	ca, err := NewClientCA(path)
	g.Expect(err).NotTo(HaveOccurred())

	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	certificate, key := trusted.issue(t, filesHost, now, now.Add(time.Hour))
	serving, err := tls.X509KeyPair(certificate, key)
	g.Expect(err).NotTo(HaveOccurred())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{serving}}
	ca.Configure(server.TLS)
	server.StartTLS()
	defer server.Close()
	call := func(i *issuer, usage x509.ExtKeyUsage) error {
		config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: filesHost}
		config.RootCAs.AddCert(trusted.ca)
		if i != nil {
			certificate, key := i.issueUsage(t, "api", now, now.Add(time.Hour), usage)
			pair, err := tls.X509KeyPair(certificate, key)
			g.Expect(err).NotTo(HaveOccurred())
			config.Certificates = []tls.Certificate{pair}
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		defer client.CloseIdleConnections()
		response, err := client.Get(server.URL)
		if err == nil {
			response.Body.Close()
		}
		return err
	}
	g.Expect(call(trusted, x509.ExtKeyUsageClientAuth)).To(Succeed())
	g.Expect(call(nil, x509.ExtKeyUsageClientAuth)).To(MatchError(ContainSubstring("certificate required")))
	g.Expect(call(stranger, x509.ExtKeyUsageClientAuth)).NotTo(Succeed())
	g.Expect(call(trusted, x509.ExtKeyUsageServerAuth)).NotTo(Succeed())

	// The file is followed.
	go func() { _ = ca.Start(t.Context()) }()
	g.Expect(os.WriteFile(path, stranger.pem(), 0o600)).To(Succeed())
	g.Eventually(func() error { return call(stranger, x509.ExtKeyUsageClientAuth) }, "10s").Should(Succeed())
	g.Expect(call(trusted, x509.ExtKeyUsageClientAuth)).NotTo(Succeed())

	_, err = NewClientCA(filepath.Join(t.TempDir(), "none"))
	g.Expect(err).To(MatchError(ContainSubstring("reading the CA of clients")))
}
