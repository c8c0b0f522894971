package doctor

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// checkCertificates looks at the CAs that the API server is told to trust, and
// at the certificate that it meets, as far as that can be had from here. Whether
// it does trust it, the check reachable tells.
func checkCertificates(s *snapshot) []Finding {
	client := s.client()
	if client == nil {
		return []Finding{unknown("see the check webhook", "the API server is told no CA")}
	}
	if len(client.CABundle) == 0 {
		return []Finding{problem("see docs/certificates.md: with cert-manager, its cainjector has to run",
			"the API server is told no CA: it trusts no certificate that Leasewarden has")}
	}
	bundle, err := parseCertificates(client.CABundle)
	if err != nil {
		return []Finding{problem("see the log of the replica that leads", "the CAs that the API server is told cannot be read: %v", err)}
	}
	findings := s.checkExpiry("the CA that the API server is told to trust", latest(bundle))
	certificates, from, err := s.serving()
	if err != nil {
		return append(findings, unknown("the check reachable tells whether the API server trusts it", "the serving certificate: %v", err))
	}
	findings = append(findings, s.checkTrust(bundle, certificates, from)...)
	if len(findings) > 0 {
		return findings
	}
	return ok("the CA is valid until %s, and that of %s", latest(bundle).NotAfter.UTC().Format(time.DateOnly), from)
}

// checkTrust verifies as the API server does. A CA only has to be among those
// that are trusted.
func (s *snapshot) checkTrust(bundle, certificates []*x509.Certificate, from string) []Finding {
	const advice = "see the log of the replica that leads; delete the Secret of the CA to have all made anew"
	first := certificates[0]
	if first.IsCA {
		for _, c := range bundle {
			if c.Equal(first) {
				return nil
			}
		}
		return []Finding{problem(advice, "the API server is not told to trust the CA in %s", from)}
	}
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: s.now, DNSName: s.host()}
	for _, c := range bundle {
		options.Roots.AddCert(c)
	}
	for _, c := range certificates[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := first.Verify(options); err != nil {
		return []Finding{problem(advice, "the API server does not trust the certificate of %s: %v", from, err)}
	}
	return s.checkExpiry("the serving certificate", first)
}

// host is by what name the API server calls.
func (s *snapshot) host() string {
	client := s.client()
	if client.Service != nil {
		return client.Service.Name + "." + client.Service.Namespace + ".svc"
	}
	u, err := url.Parse(s.outside())
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// serving is the certificate that the webhook presents, or the CA that it is of,
// and where it was found.
func (s *snapshot) serving() (certificates []*x509.Certificate, from string, err error) {
	if s.outside() != "" {
		if len(s.presented.value) == 0 && s.presented.err == nil {
			return nil, "", errors.New("none is presented")
		}
		return s.presented.value, s.outside(), s.presented.err
	}
	if err := s.secret.err; err != nil {
		return nil, "", errors.New(unread("its Secret", err)[0].Message)
	}
	certificates, err = parseCertificates(s.secret.value.Data[corev1.TLSCertKey])
	return certificates, "Secret " + s.secret.value.Namespace + "/" + s.secret.value.Name, err
}

// checkExpiry warns once a renewal is overdue: they are due after two thirds of
// the time.
func (s *snapshot) checkExpiry(what string, c *x509.Certificate) []Finding {
	until := c.NotAfter.UTC().Format(time.RFC3339)
	switch left := c.NotAfter.Sub(s.now); {
	case left <= 0:
		return []Finding{problem("see the log of the replicas for why it was not renewed", "%s expired at %s", what, until)}
	case left < c.NotAfter.Sub(c.NotBefore)/6:
		return []Finding{warning("see the log of the replicas for why it is not renewed", "%s expires at %s: its renewal is overdue", what, until)}
	case s.now.Before(c.NotBefore):
		return []Finding{problem("check the clocks", "%s is not valid before %s", what, c.NotBefore.UTC().Format(time.RFC3339))}
	}
	return nil
}

// latest is the one that is valid for longest: while a CA is replaced, the one
// before it is trusted, too.
func latest(certificates []*x509.Certificate) *x509.Certificate {
	last := certificates[0]
	for _, c := range certificates {
		if c.NotAfter.After(last.NotAfter) {
			last = c
		}
	}
	return last
}

func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("there is no certificate in PEM")
	}
	return all, nil
}
