package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
	"github.com/cert-manager/cert-manager/pkg/server/tls/authority"
	"golang.org/x/sync/errgroup"
)

// retryInterval is how often a leaf or a CA that cannot be had is asked for
// again.
const retryInterval = time.Second

// SelfManaged makes serving certificates from a CA of its own.
type SelfManaged struct {
	options Options
	source  *cmtls.DynamicSource
	signer  *signer
	// load reads the CA certificate.
	load  func(context.Context) ([]byte, error)
	clock clock.Clock
	// changed is told of every new CA.
	changed chan event.GenericEvent

	mu sync.Mutex
	// ca is the current one, and since when this process knows it.
	ca      []byte
	caSince time.Time
}

var (
	_ manager.Runnable               = (*SelfManaged)(nil)
	_ manager.LeaderElectionRunnable = (*SelfManaged)(nil)
)

// NewSelfManaged makes a SelfManaged. Nothing happens before it is started. Its
// metrics are in controller-runtime's registry, so that there can be one only.
func NewSelfManaged(config *rest.Config, o Options) (*SelfManaged, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	load := func(ctx context.Context) ([]byte, error) {
		secret, err := client.CoreV1().Secrets(o.Namespace).Get(ctx, o.SecretName, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return secret.Data[corev1.TLSCertKey], nil
	}
	ca := &authority.DynamicAuthority{
		SecretNamespace: o.Namespace,
		SecretName:      o.SecretName,
		SecretLabels:    map[string]string{"app.kubernetes.io/managed-by": "leasewarden"},
		RESTConfig:      config,
		CommonName:      "leasewarden-ca",
		CADuration:      o.CADuration,
		LeafDuration:    o.LeafDuration,
	}
	m := newSelfManaged(o, ca, load, clock.RealClock{})
	return m, registerMetrics(metrics.Registry, m.leaf)
}

func newSelfManaged(o Options, ca cmtls.Authority, load func(context.Context) ([]byte, error), c clock.Clock) *SelfManaged {
	names, ips := splitHosts(o.Hosts)
	s := &signer{Authority: ca, ips: ips}
	m := &SelfManaged{
		options: o,
		signer:  s,
		source:  &cmtls.DynamicSource{DNSNames: names, Authority: s, RetryInterval: retryInterval},
		load:    load,
		clock:   c,
		changed: make(chan event.GenericEvent, 1),
	}
	s.early = m.early
	return m
}

// NeedLeaderElection is false: every replica serves.
func (*SelfManaged) NeedLeaderElection() bool { return false }

// Start keeps the certificates until ctx ends.
func (m *SelfManaged) Start(ctx context.Context) error {
	log := ctrllog.FromContext(ctx).WithName("certs")
	rotations := make(chan struct{}, 1)
	m.signer.Authority.WatchRotation(rotations)
	defer m.signer.Authority.StopWatchingRotation(rotations)

	group, ctx := errgroup.WithContext(ctx)
	// The library tells at its normal level what it tries; only errors are news.
	group.Go(func() error { return m.source.Start(logr.NewContext(ctx, log.V(2))) })
	group.Go(func() error { m.follow(ctx, log, rotations); return nil })
	return group.Wait()
}

// follow publishes every new CA, and has the leaf renewed a while later.
func (m *SelfManaged) follow(ctx context.Context, log logr.Logger, rotations <-chan struct{}) {
	var retry, renew <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-rotations:
		case <-retry:
		case <-renew:
			renew = nil
			log.Info("Renewing the serving certificate, its CA was replaced")
			m.signer.renew()
			continue
		}
		retry = nil
		ca, err := m.load(ctx)
		if err != nil {
			log.Error(err, "Cannot read the CA, will try again", "secret", m.options.Namespace+"/"+m.options.SecretName)
			retry = m.clock.After(retryInterval)
			continue
		}
		m.setCA(ca)
		if delay, needed := m.renewIn(ca); needed {
			renew = m.clock.After(delay)
		}
	}
}

func (m *SelfManaged) setCA(ca []byte) {
	m.mu.Lock()
	if !bytes.Equal(m.ca, ca) {
		m.ca, m.caSince = ca, m.clock.Now()
	}
	m.mu.Unlock()
	select {
	case m.changed <- event.GenericEvent{Object: &corev1.Secret{}}:
	default:
	}
}

// renewIn says whether the leaf that is being served comes from another CA, and
// how long it may still be served.
func (m *SelfManaged) renewIn(ca []byte) (delay time.Duration, needed bool) {
	leaf, err := m.leaf()
	if err != nil {
		return 0, false // the source is still trying to get its first one
	}
	if signedBy(leaf, ca) {
		return 0, false
	}
	return min(m.options.RotationDelay, max(0, leaf.NotAfter.Sub(m.clock.Now()))), true
}

// early reports whether a leaf must not be served yet: its CA is new, and the
// leaf that is being served is good for a while.
func (m *SelfManaged) early(leaf *x509.Certificate) bool {
	served, err := m.leaf()
	now := m.clock.Now()
	if err != nil || !now.Add(2*retryInterval).Before(served.NotAfter) {
		return false
	}
	m.mu.Lock()
	ca, since := m.ca, m.caSince
	m.mu.Unlock()
	switch {
	case !signedBy(leaf, ca):
		return true // that CA has not even been published
	case signedBy(served, ca):
		return false
	}
	return now.Before(since.Add(m.options.RotationDelay))
}

func signedBy(leaf *x509.Certificate, ca []byte) bool {
	parents, err := parseCertificates(ca)
	return err == nil && leaf.CheckSignatureFrom(parents[0]) == nil
}

// Changed has an event whenever there is a new CA.
func (m *SelfManaged) Changed() <-chan event.GenericEvent { return m.changed }

// Bundle returns the CA bundle to publish, given the one that is published:
// while a CA is being replaced it holds both. It is to be asked again after
// recheck, if that is not 0.
func (m *SelfManaged) Bundle(published []byte) (bundle []byte, recheck time.Duration, err error) {
	m.mu.Lock()
	ca, since := m.ca, m.caSince
	m.mu.Unlock()
	if len(ca) == 0 {
		return nil, 0, m.noCA()
	}
	return mergeBundle(published, ca, since, m.clock.Now())
}

func (m *SelfManaged) noCA() error {
	return problem(ReasonMissing, "there is no CA in Secret %s/%s yet: the namespace must exist, and Leasewarden may need the right to create that Secret and to update it",
		m.options.Namespace, m.options.SecretName)
}

// GetCertificate is for a tls.Config.
func (m *SelfManaged) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return m.source.GetCertificate(hello)
}

// Ready returns nil while a valid certificate is being served, and else why
// there is none.
func (m *SelfManaged) Ready() error {
	certificate, err := m.source.GetCertificate(nil)
	if err != nil {
		return m.noCA()
	}
	d := demands{host: m.options.Hosts[0], renewal: "see the log for why it was not renewed"}
	return d.check(certificate, m.clock.Now())
}

// Problem returns what to tell people, which is what Ready returns.
func (m *SelfManaged) Problem() error { return m.Ready() }

func (m *SelfManaged) leaf() (*x509.Certificate, error) {
	certificate, err := m.source.GetCertificate(nil)
	if err != nil {
		return nil, err
	}
	return certificate.Leaf, nil
}
