package certs

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	testingclock "k8s.io/utils/clock/testing"
)

// issuer is a CA that issues into the files of a test.
type issuer struct {
	key *ecdsa.PrivateKey
	ca  *x509.Certificate
}

func newIssuer(t testing.TB, made time.Time) *issuer {
	t.Helper()
	key, ca := newCA(t, made, 24*time.Hour)
	return &issuer{key: key, ca: ca}
}

func (i *issuer) pem() []byte { return encodeCertificates([]*x509.Certificate{i.ca}) }

// issue returns a server's certificate and its key in PEM.
func (i *issuer) issue(t testing.TB, host string, from, to time.Time) (certificate, key []byte) {
	t.Helper()
	return i.issueUsage(t, host, from, to, x509.ExtKeyUsageServerAuth)
}

func (i *issuer) issueUsage(t testing.TB, host string, from, to time.Time, usage x509.ExtKeyUsage) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "leaf"}, DNSNames: []string{host},
		NotBefore: from, NotAfter: to, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.ca, private.Public(), i.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// filesFixture is a Files and the directory that it follows.
type filesFixture struct {
	*Files
	dir   string
	clock *testingclock.FakeClock
}

const filesHost = "leasewarden.leasewarden-system.svc"

func newFilesFixture(t *testing.T, o FilesOptions) *filesFixture {
	t.Helper()
	f := &filesFixture{dir: t.TempDir(), clock: testingclock.NewFakeClock(time.Now().Truncate(time.Second))}
	o.CertFile, o.KeyFile, o.Host = filepath.Join(f.dir, "tls.crt"), filepath.Join(f.dir, "tls.key"), filesHost
	if err := o.complete(); err != nil {
		t.Fatal(err)
	}
	f.Files = newFiles(o, f.clock)
	return f
}

func (f *filesFixture) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start: %v", err)
		}
	})
}

// write replaces files, all at once for who reads later.
func (f *filesFixture) write(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(f.dir, name)
		if err := os.WriteFile(path+".new", content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

// issue writes a certificate of i for the usual host, and i's CA.
func (f *filesFixture) issue(t *testing.T, i *issuer, valid time.Duration) *x509.Certificate {
	t.Helper()
	return f.issueFor(t, i, filesHost, f.clock.Now(), f.clock.Now().Add(valid))
}

func (f *filesFixture) issueFor(t *testing.T, i *issuer, host string, from, to time.Time) *x509.Certificate {
	t.Helper()
	certificate, key := i.issue(t, host, from, to)
	f.write(t, map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": i.pem()})
	leaves, err := parseCertificates(certificate)
	if err != nil {
		t.Fatal(err)
	}
	return leaves[0]
}

// serves waits until that certificate is served.
func (f *filesFixture) serves(t *testing.T, leaf *x509.Certificate) {
	t.Helper()
	NewWithT(t).Eventually(func() bool {
		f.clock.Step(time.Second)
		served, err := f.leaf()
		return err == nil && served.Equal(leaf)
	}, "10s").Should(BeTrue(), "the certificate is served")
}

// says waits until that is the problem.
func (f *filesFixture) says(t *testing.T, reason, text string) {
	t.Helper()
	NewWithT(t).Eventually(func() error {
		f.clock.Step(time.Second)
		return f.Problem()
	}, "10s").Should(And(HaveField("Reason", reason), MatchError(ContainSubstring(text))))
}

// settles waits until there is no problem.
func (f *filesFixture) settles(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func() error {
		f.clock.Step(time.Second)
		return f.Problem()
	}, "10s").Should(Succeed())
}

func TestFilesAreFollowed(t *testing.T) {
	g := NewWithT(t)
	f := newFilesFixture(t, FilesOptions{})
	f.start(t)
	f.says(t, ReasonMissing, filepath.Join(f.dir, "tls.crt"))
	g.Expect(f.Ready()).To(MatchError(ContainSubstring("is missing")))
	_, _, err := f.Bundle(nil)
	g.Expect(err).To(HaveOccurred())
	_, err = f.GetCertificate(nil)
	g.Expect(err).To(HaveOccurred())

	i := newIssuer(t, f.clock.Now())
	first := f.issue(t, i, time.Hour)
	f.serves(t, first)
	g.Expect(f.Ready()).To(Succeed())
	f.settles(t)
	g.Expect(f.Changed()).To(Receive())
	bundle, recheck, err := f.Bundle(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recheck).To(BeZero())
	g.Expect(bundle).To(Equal(i.pem()))

	renewed := f.issue(t, i, 2*time.Hour)
	f.serves(t, renewed)
	g.Expect(f.Changed()).NotTo(Receive(), "the CA is the same")
}

// A certificate of another CA waits until that has had the time to be published.
func TestFilesOfAnotherCA(t *testing.T) {
	g := NewWithT(t)
	f := newFilesFixture(t, FilesOptions{})
	old, other := newIssuer(t, f.clock.Now()), newIssuer(t, f.clock.Now())
	first := f.issue(t, old, time.Hour)
	f.start(t)
	f.serves(t, first)
	g.Eventually(f.Changed()).Should(Receive())

	second := f.issue(t, other, time.Hour)
	g.Eventually(func() bool {
		f.clock.Step(time.Second)
		select {
		case <-f.Changed():
			return true
		default:
			return false
		}
	}, "10s").Should(BeTrue(), "the new CA is seen")
	g.Expect(f.leaf()).To(Equal(first))
	g.Expect(f.Ready()).To(Succeed(), "the one before is still trusted")
	g.Expect(f.Problem()).To(Succeed())
	during, recheck, err := f.Bundle(old.pem())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recheck).To(BeNumerically(">", 0))
	g.Expect(during).To(Equal(join(other.pem(), old.pem())))

	f.clock.Step(DefaultFilesRotationDelay)
	f.serves(t, second)
	g.Expect(f.Ready()).To(Succeed())
	f.clock.Step(trustOverlap)
	after, recheck, err := f.Bundle(during)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recheck).To(BeZero())
	g.Expect(after).To(Equal(other.pem()))
}

// What is served is about to expire: there is nothing to wait for.
func TestFilesOfAnotherCAInTheLastMoment(t *testing.T) {
	f := newFilesFixture(t, FilesOptions{RotationDelay: 2 * time.Hour})
	f.issue(t, newIssuer(t, f.clock.Now()), time.Hour)
	f.start(t)
	NewWithT(t).Eventually(f.Ready, "5s").Should(Succeed())
	f.clock.Step(50 * time.Minute)
	second := f.issue(t, newIssuer(t, f.clock.Now()), 3*time.Hour)
	f.clock.Step(9*time.Minute + 55*time.Second)
	f.serves(t, second)
}

func TestFilesWithProblems(t *testing.T) {
	for _, tc := range []struct {
		name string
		// spoil makes the files bad.
		spoil        func(f *filesFixture, i *issuer)
		reason, text string
	}{
		{"expired", func(f *filesFixture, i *issuer) {
			f.issueFor(t, i, filesHost, f.clock.Now().Add(-2*time.Hour), f.clock.Now().Add(-time.Hour))
		}, ReasonExpired, "have a new one issued into"},
		{"not yet valid", func(f *filesFixture, i *issuer) {
			f.issueFor(t, i, filesHost, f.clock.Now().Add(time.Hour), f.clock.Now().Add(2*time.Hour))
		}, ReasonNotYetValid, "check the clocks"},
		{"for somebody else", func(f *filesFixture, i *issuer) {
			f.issueFor(t, i, "other.svc", f.clock.Now(), f.clock.Now().Add(2*time.Hour))
		}, ReasonMismatch, "is for other.svc and the API server calls " + filesHost},
		{"another key", func(f *filesFixture, i *issuer) {
			_, key := i.issue(t, filesHost, f.clock.Now(), f.clock.Now().Add(time.Hour))
			f.write(t, map[string][]byte{"tls.key": key})
		}, ReasonMismatch, "belong together"},
		{"not of the CA", func(f *filesFixture, i *issuer) {
			certificate, key := newIssuer(t, f.clock.Now()).issue(t, filesHost, f.clock.Now(), f.clock.Now().Add(time.Hour))
			f.write(t, map[string][]byte{"tls.crt": certificate, "tls.key": key})
		}, ReasonMismatch, "would not trust"},
		{"no CA", func(f *filesFixture, _ *issuer) {
			NewWithT(t).Expect(os.Remove(filepath.Join(f.dir, "ca.crt"))).To(Succeed())
		}, ReasonMissing, "ca.crt"},
		{"broken CA", func(f *filesFixture, _ *issuer) {
			f.write(t, map[string][]byte{"ca.crt": []byte("x")})
		}, ReasonMissing, "cannot be read"},
		{"no certificate", func(f *filesFixture, _ *issuer) {
			NewWithT(t).Expect(os.Remove(filepath.Join(f.dir, "tls.crt"))).To(Succeed())
		}, ReasonMissing, "is missing"},
		{"broken certificate", func(f *filesFixture, _ *issuer) {
			f.write(t, map[string][]byte{"tls.crt": []byte("x")})
		}, ReasonMismatch, "cannot be used"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Run("at the start", func(t *testing.T) {
				f := newFilesFixture(t, FilesOptions{})
				i := newIssuer(t, f.clock.Now().Add(-12*time.Hour))
				f.issue(t, i, 10*time.Hour)
				tc.spoil(f, i)
				f.start(t)
				f.says(t, tc.reason, tc.text)
				g := NewWithT(t)
				g.Expect(f.Ready()).To(MatchError(ContainSubstring(tc.text)))
				good := f.issue(t, i, 10*time.Hour)
				f.serves(t, good)
				f.settles(t)
			})
			t.Run("later", func(t *testing.T) {
				f := newFilesFixture(t, FilesOptions{})
				i := newIssuer(t, f.clock.Now().Add(-12*time.Hour))
				good := f.issue(t, i, 10*time.Hour)
				f.start(t)
				f.serves(t, good)
				tc.spoil(f, i)
				f.says(t, tc.reason, tc.text)
				g := NewWithT(t)
				g.Expect(f.Ready()).To(Succeed(), "what is served is good")
				g.Expect(f.leaf()).To(Equal(good))
			})
		})
	}
}

func TestFilesExpireWhileServed(t *testing.T) {
	f := newFilesFixture(t, FilesOptions{})
	f.issue(t, newIssuer(t, f.clock.Now()), time.Hour)
	f.start(t)
	g := NewWithT(t)
	g.Eventually(f.Ready, "5s").Should(Succeed())
	f.clock.Step(time.Hour + time.Second)
	g.Expect(f.Ready()).To(MatchError(ContainSubstring("expired at")))
}

func TestInjectedBundleIsLeftAlone(t *testing.T) {
	g := NewWithT(t)
	f := newFilesFixture(t, FilesOptions{Injected: true})
	i := newIssuer(t, f.clock.Now())
	certificate, key := i.issue(t, filesHost, f.clock.Now(), f.clock.Now().Add(time.Hour))
	f.write(t, map[string][]byte{"tls.crt": certificate, "tls.key": key})
	f.start(t)
	g.Eventually(f.Ready, "5s").Should(Succeed(), "without a CA file, too")
	g.Expect(f.Problem()).To(Succeed())
	bundle, _, err := f.Bundle(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bundle).To(BeEmpty())
	bundle, recheck, err := f.Bundle([]byte("theirs"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recheck).To(BeZero())
	g.Expect(string(bundle)).To(Equal("theirs"))

	f.write(t, map[string][]byte{"ca.crt": i.pem()})
	g.Eventually(func() []byte {
		f.clock.Step(reviewInterval)
		bundle, _, _ := f.Bundle(nil)
		return bundle
	}, "5s").Should(Equal(i.pem()))
}

func TestFilesOptions(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&FilesOptions{CertFile: "a", Host: "h"}).complete()).To(MatchError(ContainSubstring("give both")))
	g.Expect((&FilesOptions{CertFile: "a", KeyFile: "b"}).complete()).To(MatchError(ContainSubstring("host")))
	o := FilesOptions{CertFile: "/x/a", KeyFile: "/y/b", Host: "h"}
	g.Expect(o.complete()).To(Succeed())
	g.Expect(o.CAFile).To(Equal("/x/ca.crt"))
}
