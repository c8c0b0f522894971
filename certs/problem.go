package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reasons of a Problem.
const (
	// ReasonMissing: there is no certificate, key or CA that can be read.
	ReasonMissing = "CertificateMissing"
	// ReasonMismatch: the certificate is not for its key, for the name that the
	// API server calls, or of the CA.
	ReasonMismatch = "CertificateMismatch"
	// ReasonExpired: its time is over.
	ReasonExpired = "CertificateExpired"
	// ReasonNotYetValid: its time has not come.
	ReasonNotYetValid = "CertificateNotYetValid"
)

// Problem is what is wrong with the serving certificate, and what to do.
type Problem struct {
	// Reason is one of those above.
	Reason  string
	Message string
}

func (p *Problem) Error() string { return p.Message }

func problem(reason, format string, args ...any) *Problem {
	return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// asProblem wraps what no certificate could be read for.
func asProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return &Problem{Reason: ReasonMissing, Message: err.Error()}
}

// demands are what a serving certificate must meet.
type demands struct {
	// host is the name or IP address by which the API server calls.
	host string
	// roots are the CAs that it trusts, and where they are read. Nil: not known.
	roots *x509.CertPool
	from  string
	// renewal says what to do about a certificate that expired.
	renewal string
}

// check returns what is wrong with the certificate, or nil.
func (d *demands) check(certificate *tls.Certificate, now time.Time) error {
	leaf := certificate.Leaf
	switch {
	case now.Before(leaf.NotBefore):
		return problem(ReasonNotYetValid, "the serving certificate is not valid before %s: check the clocks", leaf.NotBefore.UTC().Format(time.RFC3339))
	case now.After(leaf.NotAfter):
		return problem(ReasonExpired, "the serving certificate expired at %s: %s", leaf.NotAfter.UTC().Format(time.RFC3339), d.renewal)
	}
	if leaf.VerifyHostname(d.host) != nil {
		return problem(ReasonMismatch, "the serving certificate is for %s and the API server calls %s: have one issued with that subject alternative name",
			strings.Join(names(leaf), ", "), d.host)
	}
	if d.roots == nil {
		return nil
	}
	if err := d.signed(certificate, now); err != nil {
		return problem(ReasonMismatch, "the API server would not trust the serving certificate by the CA in %s, give that of its issuer: %v", d.from, err)
	}
	return nil
}

// signed verifies as the API server does.
func (d *demands) signed(certificate *tls.Certificate, now time.Time) error {
	between := x509.NewCertPool()
	for _, der := range certificate.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	_, err := certificate.Leaf.Verify(x509.VerifyOptions{
		Roots: d.roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

// names are whom a certificate is for.
func names(leaf *x509.Certificate) []string {
	all := append([]string(nil), leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return []string{"nobody"}
	}
	return all
}
