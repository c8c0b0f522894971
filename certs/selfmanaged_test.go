package certs

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/cert-manager/cert-manager/pkg/server/tls/authority"
)

// fakeAuthority is a CA that a test replaces.
type fakeAuthority struct {
	mu      sync.Mutex
	key     *ecdsa.PrivateKey
	ca      *x509.Certificate
	watches []chan<- struct{}
}

func newCA(t testing.TB, made time.Time, valid time.Duration) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: made, NotAfter: made.Add(valid), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, ca
}

func (a *fakeAuthority) rotate(t testing.TB, made time.Time) {
	key, ca := newCA(t, made, 24*time.Hour)
	a.mu.Lock()
	a.key, a.ca = key, ca
	a.mu.Unlock()
	a.notify()
}

func (a *fakeAuthority) notify() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ch := range a.watches {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Run tells of the CA that is there, as the real one does.
func (a *fakeAuthority) Run(ctx context.Context) error {
	a.notify()
	<-ctx.Done()
	return nil
}

func (a *fakeAuthority) WatchRotation(ch chan<- struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watches = append(a.watches, ch)
}

func (a *fakeAuthority) StopWatchingRotation(chan<- struct{}) {}

func (a *fakeAuthority) Sign(template *x509.Certificate) (*x509.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ca == nil {
		return nil, authority.ErrCertificateNotAvailable
	}
	template.SerialNumber = big.NewInt(2)
	template.NotBefore, template.NotAfter = a.ca.NotBefore, a.ca.NotBefore.Add(8*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, a.ca, template.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func (a *fakeAuthority) load(context.Context) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ca == nil {
		return nil, errors.New("not found")
	}
	return encodeCertificates([]*x509.Certificate{a.ca}), nil
}

func start(t *testing.T, a *fakeAuthority, clock *testingclock.FakeClock, hosts ...string) *SelfManaged {
	t.Helper()
	o := Options{Namespace: "leasewarden-system", Hosts: hosts}
	if err := o.complete(); err != nil {
		t.Fatal(err)
	}
	m := newSelfManaged(o, a, a.load, clock)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start: %v", err)
		}
	})
	return m
}

// get calls a server that serves m's certificate, trusting the bundle given.
func get(t *testing.T, m *SelfManaged, bundle []byte, host string) error {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: m.GetCertificate})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: pool, ServerName: host, Time: m.clock.Now,
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Get("https://" + listener.Addr().String())
	if err == nil {
		response.Body.Close()
	}
	return err
}

func TestServesNamesAndAddresses(t *testing.T) {
	g := NewWithT(t)
	clock := testingclock.NewFakeClock(time.Now())
	a := &fakeAuthority{}
	m := start(t, a, clock, "leasewarden.leasewarden-system.svc", "127.0.0.1")

	g.Expect(m.Ready()).To(MatchError(ContainSubstring("no CA in Secret leasewarden-system/leasewarden-ca")))
	_, _, err := m.Bundle(nil)
	g.Expect(err).To(HaveOccurred())

	a.rotate(t, clock.Now())
	g.Eventually(m.Ready, "5s").Should(Succeed())
	g.Eventually(m.Changed(), "5s").Should(Receive())
	bundle, recheck, err := m.Bundle(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recheck).To(BeZero())
	for _, host := range []string{"leasewarden.leasewarden-system.svc", "127.0.0.1"} {
		g.Expect(get(t, m, bundle, host)).To(Succeed(), host)
	}
	g.Expect(get(t, m, bundle, "other.svc")).NotTo(Succeed())
}

// While the CA is replaced, a call succeeds with the bundle that was published
// before, until the new one has had the time to be published, and with the new
// bundle all the time.
func TestRotation(t *testing.T) {
	g := NewWithT(t)
	clock := testingclock.NewFakeClock(time.Now())
	a := &fakeAuthority{}
	a.rotate(t, clock.Now())
	m := start(t, a, clock, "localhost")
	g.Eventually(m.Ready, "5s").Should(Succeed())
	g.Eventually(m.Changed(), "5s").Should(Receive())
	before, _, err := m.Bundle(nil)
	g.Expect(err).NotTo(HaveOccurred())

	clock.Step(4 * time.Hour)
	a.rotate(t, clock.Now())
	g.Eventually(m.Changed(), "5s").Should(Receive())
	during, recheck, err := m.Bundle(before)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recheck).To(BeNumerically("~", trustOverlap, time.Second))
	g.Expect(get(t, m, before, "localhost")).To(Succeed())
	g.Expect(get(t, m, during, "localhost")).To(Succeed())

	g.Eventually(clock.HasWaiters, "5s").Should(BeTrue())
	clock.Step(m.options.RotationDelay)
	g.Eventually(func() error { return get(t, m, before, "localhost") }, "5s").ShouldNot(Succeed())
	g.Expect(get(t, m, during, "localhost")).To(Succeed())

	clock.Step(trustOverlap)
	after, recheck, err := m.Bundle(during)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recheck).To(BeZero())
	g.Expect(parseCertificates(after)).To(HaveLen(1))
	g.Expect(get(t, m, after, "localhost")).To(Succeed())
}

func TestReadyWatchesTheClock(t *testing.T) {
	g := NewWithT(t)
	clock := testingclock.NewFakeClock(time.Now())
	a := &fakeAuthority{}
	a.rotate(t, clock.Now())
	m := start(t, a, clock, "localhost")
	g.Eventually(m.Ready, "5s").Should(Succeed())
	clock.Step(-time.Hour)
	g.Expect(m.Ready()).To(MatchError(ContainSubstring("not valid before")))
	clock.Step(24 * time.Hour)
	g.Expect(m.Ready()).To(MatchError(ContainSubstring("expired at")))
}

func TestMergeBundle(t *testing.T) {
	now := time.Now()
	pem := func(made time.Time, valid time.Duration) []byte {
		_, ca := newCA(t, made, valid)
		return encodeCertificates([]*x509.Certificate{ca})
	}
	current, old := pem(now.Add(-time.Minute), time.Hour), pem(now.Add(-23*time.Hour), 24*time.Hour)
	other, expired := pem(now.Add(-time.Hour), 24*time.Hour), pem(now.Add(-2*time.Hour), time.Hour)
	lately, longAgo := now.Add(-time.Minute), now.Add(-trustOverlap)
	for _, tc := range []struct {
		name               string
		published, current []byte
		since              time.Time
		want               []byte
		again              bool
	}{
		{"nothing published", nil, current, lately, current, false},
		{"the same published", current, current, lately, current, false},
		{"the previous one is kept", old, current, lately, join(current, old), true},
		{"both stay", join(current, old), current, lately, join(current, old), true},
		{"one of several is dropped", join(current, other), current, longAgo, current, false},
		{"an expired one is dropped", join(expired, old), current, lately, join(current, old), true},
		{"the previous one is dropped in time", join(current, old), current, longAgo, current, false},
		{"what cannot be read is dropped", []byte("x"), current, lately, current, false},
		{"there may be several", join(other, old), join(current, other), lately, join(current, other, old), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, recheck, err := mergeBundle(tc.published, tc.current, tc.since, now)
			if err != nil || string(got) != string(tc.want) {
				t.Errorf("got %s, %v; want %s", got, err, tc.want)
			}
			if (recheck > 0) != tc.again {
				t.Errorf("recheck: %s", recheck)
			}
		})
	}
	if _, _, err := mergeBundle(nil, []byte("x"), lately, now); err == nil {
		t.Error("a CA that cannot be read is published")
	}
}

func join(pems ...[]byte) []byte {
	var all []byte
	for _, p := range pems {
		all = append(all, p...)
	}
	return all
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"namespace":     {Hosts: []string{"a"}},
		"host":          {Namespace: "a"},
		"duration 365d": {Namespace: "a", Hosts: []string{"a"}, LeafDuration: DefaultCADuration},
	} {
		if err := o.complete(); err == nil || !strings.Contains(err.Error(), strings.Fields(name)[0]) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
