package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
)

// handshake makes a new connection, as an API server with this bundle does, and
// returns the certificate that is served.
func handshake(ctx context.Context, address, host string, bundle []byte, own ...tls.Certificate) (*x509.Certificate, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: host, Certificates: own}}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// trusted makes a new connection with each address, trusting what is published.
func (s *site) trusted(ctx context.Context, host string, addresses ...string) error {
	bundle, err := s.bundle(ctx)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if _, err := handshake(ctx, address, host, bundle); err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
	}
	return nil
}

// webhookAddress is where the API server reaches the webhook by a URL.
func (s *site) webhookAddress(ctx context.Context) (string, error) {
	c, err := s.configuration(ctx)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(*c.Webhooks[0].ClientConfig.URL)
	if err != nil {
		return "", err
	}
	return u.Host, nil
}

// encoded is a certificate in PEM.
func encoded(certificate *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}))
}
