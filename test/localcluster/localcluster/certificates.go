package localcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// kubeletCA secures the connections from the API server to the nodes.
type kubeletCA struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newKubeletCA() (*kubeletCA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	certificate, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: "localcluster-kubelets"}, key)
	if err != nil {
		return nil, err
	}
	return &kubeletCA{certificate: certificate, key: key}, nil
}

func (ca *kubeletCA) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: ca.certificate.Raw})
}

func (ca *kubeletCA) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.certificate)
	return pool
}

// issue returns a certificate for a server at the address, or for a client if
// there is none.
func (ca *kubeletCA) issue(name string, ip net.IP) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    ca.certificate.NotBefore,
		NotAfter:     time.Now().AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if ip != nil {
		template.IPAddresses = []net.IP{ip}
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, private.Public(), ca.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = keyutil.MarshalPrivateKeyToPEM(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: der}), key, nil
}

// serving returns a node's serving certificate.
func (ca *kubeletCA) serving(node, ip string) (tls.Certificate, error) {
	certificate, key, err := ca.issue(node, net.ParseIP(ip))
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, key)
}

// writeClient writes what the API server needs to talk to the nodes.
func (ca *kubeletCA) writeClient(dir string) (caFile, certFile, keyFile string, err error) {
	certificate, key, err := ca.issue("kube-apiserver-kubelet-client", nil)
	if err != nil {
		return "", "", "", err
	}
	caFile = filepath.Join(dir, "kubelet-ca.crt")
	certFile = filepath.Join(dir, "kubelet-client.crt")
	keyFile = filepath.Join(dir, "kubelet-client.key")
	for path, content := range map[string][]byte{caFile: ca.pem(), certFile: certificate, keyFile: key} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return "", "", "", err
		}
	}
	return caFile, certFile, keyFile, nil
}
