package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// issuer is a CA of a test.
type issuer struct {
	ca  *x509.Certificate
	key *ecdsa.PrivateKey
	// pem is the CA's certificate.
	pem []byte
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	g := NewWithT(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	ca, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: "people"}, key)
	g.Expect(err).NotTo(HaveOccurred())
	return &issuer{ca: ca, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: ca.Raw})}
}

// issue returns a certificate and its key in PEM.
func (i *issuer) issue(t *testing.T, name string, valid time.Duration, usage x509.ExtKeyUsage) (certificate, key []byte) {
	t.Helper()
	g := NewWithT(t)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	g.Expect(err).NotTo(HaveOccurred())
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		DNSNames:     []string{name},
		NotBefore:    i.ca.NotBefore,
		NotAfter:     time.Now().Add(valid),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{usage},
	}, i.ca, private.Public(), i.key)
	g.Expect(err).NotTo(HaveOccurred())
	key, err = keyutil.MarshalPrivateKeyToPEM(private)
	g.Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: der}), key
}
