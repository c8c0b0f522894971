package doctor

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestServingCertificateIsVerifiedAsTheAPIServerDoes(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	good, _ := certify(t, ca, examined.Add(80*24*time.Hour))
	old, _ := certify(t, ca, examined.Add(-time.Hour))
	ending, _ := certify(t, ca, examined.Add(10*24*time.Hour))
	for name, test := range map[string]struct {
		presented *x509.Certificate
		bundle    *authority
		url       string
		verdict   Verdict
		message   string
	}{
		"good":          {good, ca, "https://" + host, OK, "valid until"},
		"of a stranger": {good, stranger, "https://" + host, Problem, "does not trust"},
		"another name":  {good, ca, "https://elsewhere", Problem, "elsewhere"},
		"expired":       {old, ca, "https://" + host, Problem, "expired"},
		"expires soon":  {ending, ca, "https://" + host, Warning, "overdue"},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			outside(s)
			client := &s.entry(0).ClientConfig
			client.URL, client.CABundle = &test.url, encoded(test.bundle.certificate)
			s.presented.value = []*x509.Certificate{test.presented}
			findings := checkCertificates(s)
			if len(findings) != 1 || findings[0].Verdict != test.verdict || !strings.Contains(findings[0].Message, test.message) {
				t.Errorf("found %+v", findings)
			}
		})
	}
}

// A certificate of others is in the Secret that the replicas mount.
func TestMountedCertificate(t *testing.T) {
	ca := newAuthority(t)
	leaf, _ := certify(t, ca, examined.Add(80*24*time.Hour))
	s := healthy(t)
	s.deployments.value.Items[0].Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: "mine"},
	}}}
	if name := s.secretName(); name != "mine" {
		t.Errorf("the Secret is %s", name)
	}
	s.secret.value = corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "mine"}, Data: map[string][]byte{"tls.crt": encoded(leaf)}}
	if f := checkCertificates(s); f[0].Verdict != Problem {
		t.Errorf("another CA is trusted, and it found %+v", f)
	}
	s.entry(0).ClientConfig.CABundle = encoded(ca.certificate)
	if f := checkCertificates(s); len(f) != 1 || f[0].Verdict != OK {
		t.Errorf("found %+v", f)
	}
}
