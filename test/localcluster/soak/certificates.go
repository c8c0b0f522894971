package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

const (
	// configuration is the name of the webhook configurations.
	configuration = "leasewarden"
	// caSecret is the Secret of the CA.
	caSecret = "leasewarden-ca"
	// rotationDelay is how long a leaf of the previous CA is still served.
	rotationDelay = time.Minute
)

// ca is the certificate of the CA.
func (s *site) ca(ctx context.Context) ([]byte, error) {
	secret, err := s.kube.CoreV1().Secrets(installation.Namespace).Get(ctx, caSecret, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return secret.Data[corev1.TLSCertKey], nil
}

// served reports whether there is a CA that is not the old one, and all replicas
// serve leaves of it. They take turns at the address of the webhook.
func (s *site) served(ctx context.Context, old []byte) bool {
	ca, err := s.ca(ctx)
	if err != nil || len(ca) == 0 || bytes.Equal(ca, old) {
		return false
	}
	address, err := s.webhookAddress(ctx)
	if err != nil {
		return false
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: address.Hostname()}}
	for range 2 * replicas {
		connection, err := dialer.DialContext(ctx, "tcp", address.Host)
		if err != nil {
			return false
		}
		connection.Close()
	}
	return true
}

// webhookAddress is where the API server reaches the webhook.
func (s *site) webhookAddress(ctx context.Context) (*url.URL, error) {
	c, err := s.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, configuration, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return url.Parse(*c.Webhooks[0].ClientConfig.URL)
}
