package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"
)

// mergeBundle returns the CA bundle to publish: the current CAs, and for
// trustOverlap after they came also those that were published before and are
// still valid. recheck is when that time is over, 0 if nothing will change.
func mergeBundle(published, current []byte, since, now time.Time) (bundle []byte, recheck time.Duration, err error) {
	ca, err := parseCertificates(current)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the CA certificate: %w", err)
	}
	bundle = encodeCertificates(ca)
	over := since.Add(trustOverlap)
	if !now.Before(over) {
		return bundle, 0, nil
	}
	// A published bundle that cannot be read is not ours, and is replaced.
	previous, err := parseCertificates(published)
	if err != nil {
		return bundle, 0, nil
	}
	for _, c := range previous {
		if slices.ContainsFunc(ca, c.Equal) || !now.Before(c.NotAfter) || len(bundle) > maxBundleBytes {
			continue
		}
		bundle = append(bundle, encodeCertificates([]*x509.Certificate{c})...)
		recheck = over.Sub(now)
	}
	return bundle, recheck, nil
}

// maxBundleBytes stops a bundle from growing while CAs are replaced faster than
// they are dropped. It is repeated in every entry of the configurations.
const maxBundleBytes = 8 << 10

func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var certificates []*x509.Certificate
	for rest := bytes.TrimSpace(data); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		block, tail := pem.Decode(rest)
		if block == nil || block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("want PEM blocks of type CERTIFICATE")
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		certificates, rest = append(certificates, c), tail
	}
	if len(certificates) == 0 {
		return nil, fmt.Errorf("there is no certificate")
	}
	return certificates, nil
}

func encodeCertificates(certificates []*x509.Certificate) []byte {
	var b bytes.Buffer
	for _, c := range certificates {
		// Writing to a buffer cannot fail.
		_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	return b.Bytes()
}
