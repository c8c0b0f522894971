package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// reviewInterval is how often files are read that nobody said have changed.
const reviewInterval = 5 * time.Second

// Files serves a certificate that somebody else keeps in files: cert-manager by
// a mounted Secret, or people. A new one is taken over as it appears, unless it
// is worse than the one that is being served.
type Files struct {
	options FilesOptions
	clock   clock.Clock
	// changed is told of every new CA.
	changed chan event.GenericEvent

	mu sync.Mutex
	// served is nil before there is one.
	served *tls.Certificate
	// next waits to be served, since nextSince.
	next      *tls.Certificate
	nextSince time.Time
	// ca is the content of the CA file, and since when it is. trusted has also
	// those before it that are still published.
	ca, trusted []byte
	caSince     time.Time
	// problem is what is wrong with the files.
	problem error
}

var (
	_ manager.Runnable               = (*Files)(nil)
	_ manager.LeaderElectionRunnable = (*Files)(nil)
)

// NewFiles makes a Files. Nothing is read before it is started. Its metrics are
// in controller-runtime's registry, so that there can be one only.
func NewFiles(o FilesOptions) (*Files, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	f := newFiles(o, clock.RealClock{})
	return f, registerMetrics(metrics.Registry, f.leaf)
}

func newFiles(o FilesOptions, c clock.Clock) *Files {
	return &Files{
		options: o, clock: c, changed: make(chan event.GenericEvent, 1),
		problem: problem(ReasonMissing, "the serving certificate has not been read yet"),
	}
}

// NeedLeaderElection is false: every replica serves.
func (*Files) NeedLeaderElection() bool { return false }

// Start follows the files until ctx ends.
func (f *Files) Start(ctx context.Context) error {
	log := ctrllog.FromContext(ctx).WithName("certs").WithValues("certificate", f.options.CertFile)
	for ctx.Err() == nil {
		if watcher := f.open(ctx); watcher != nil {
			f.follow(ctx, log, watcher)
		}
	}
	return nil
}

// open waits until there is something to watch. It returns nil when ctx ends.
func (f *Files) open(ctx context.Context) (watcher *certwatcher.CertWatcher) {
	// The only error is that of ctx.
	_ = wait.PollUntilContextCancel(ctx, retryInterval, true, func(context.Context) (bool, error) {
		var err error
		watcher, err = certwatcher.New(f.options.CertFile, f.options.KeyFile)
		if err != nil {
			f.unreadable(err)
		}
		return err == nil, nil
	})
	return watcher
}

// follow reviews the files when they change, and now and then. It returns when
// ctx ends or they cannot be watched.
func (f *Files) follow(ctx context.Context, log logr.Logger, watcher *certwatcher.CertWatcher) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := make(chan struct{}, 1)
	watcher.RegisterCallback(func(tls.Certificate) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	ended := make(chan error, 1)
	go func() { ended <- watcher.Start(ctx) }()
	for {
		f.review(log, watcher)
		select {
		case err := <-ended:
			if err != nil && ctx.Err() == nil {
				log.Error(err, "Cannot watch the files, will try again")
			}
			return
		case <-changed:
		case <-f.clock.After(reviewInterval):
		}
	}
}

// review takes in what is in the files.
func (f *Files) review(log logr.Logger, watcher *certwatcher.CertWatcher) {
	err := watcher.ReadCertificate()
	found, _ := watcher.GetCertificate(nil) // never fails
	ca, caErr := f.readCA()
	if caErr == nil {
		f.setCA(ca)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problem = nil
	switch {
	case err != nil:
		f.problem = f.explain(err)
	case caErr != nil:
		f.problem = caErr
	}
	f.consider(log, found)
}

// readCA returns nil if there is no CA, and need not be.
func (f *Files) readCA() ([]byte, error) {
	ca, err := os.ReadFile(f.options.CAFile)
	switch {
	case f.options.optionalCA && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem(ReasonMissing, "the CA that the API server shall trust is missing: put it into %s, in PEM, or name another file", f.options.CAFile)
	case err != nil:
		return nil, asProblem(err)
	}
	if _, err := parseCertificates(ca); err != nil {
		return nil, problem(ReasonMissing, "the CA in %s cannot be read: %v", f.options.CAFile, err)
	}
	return ca, nil
}

func (f *Files) setCA(ca []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	if !bytes.Equal(ca, f.ca) {
		f.ca, f.caSince = ca, now
		select {
		case f.changed <- event.GenericEvent{Object: &corev1.Secret{}}:
		default:
		}
	}
	if len(ca) == 0 {
		f.trusted = nil
		return
	}
	// The error would be that of a CA that readCA has not taken.
	f.trusted, _, _ = mergeBundle(f.trusted, ca, f.caSince, now)
}

// consider has found served: at once if nothing is served or both have one
// issuer, and else when its CA has had the time to become trusted. One that is
// worse than what is served is only a problem. The lock is held.
func (f *Files) consider(log logr.Logger, found *tls.Certificate) {
	now := f.clock.Now()
	if f.served == nil || same(f.served, found) {
		f.served, f.next = found, nil
		return
	}
	if f.next == nil || !same(f.next, found) {
		f.next, f.nextSince = found, now
	}
	// The next review must not come too late for what is being served.
	if f.check(f.served, now.Add(2*reviewInterval)) == nil {
		if err := f.check(found, now); err != nil {
			f.problem = err
			return
		}
		if !sameIssuer(f.served.Leaf, found.Leaf) && now.Before(f.nextSince.Add(f.options.RotationDelay)) {
			return
		}
	}
	log.Info("Serving another certificate", "expires", found.Leaf.NotAfter.UTC().Format(time.RFC3339))
	f.served, f.next = found, nil
}

// check returns what is wrong with a certificate. The lock is held.
func (f *Files) check(certificate *tls.Certificate, now time.Time) error {
	d := demands{
		host: f.options.Host, from: f.options.CAFile,
		renewal: fmt.Sprintf("have a new one issued into %s and %s", f.options.CertFile, f.options.KeyFile),
	}
	if len(f.trusted) > 0 {
		d.roots = x509.NewCertPool()
		d.roots.AppendCertsFromPEM(f.trusted)
	}
	return d.check(certificate, now)
}

func (f *Files) unreadable(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problem = f.explain(err)
}

// explain says what to do about files that cannot be read.
func (f *Files) explain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return problem(ReasonMissing, "the serving certificate is missing: put it into %s, and its key into %s, in PEM: %v", f.options.CertFile, f.options.KeyFile, err)
	}
	return problem(ReasonMismatch, "the serving certificate cannot be used: check that %s and %s belong together: %v", f.options.CertFile, f.options.KeyFile, err)
}

// Changed has an event whenever there is a new CA.
func (f *Files) Changed() <-chan event.GenericEvent { return f.changed }

// Bundle returns the CA bundle to publish, given the one that is published: for
// a while after the CA has changed it holds both. One that somebody else keeps
// is left alone. It is to be asked again after recheck, if that is not 0.
func (f *Files) Bundle(published []byte) (bundle []byte, recheck time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.options.Injected && len(published) > 0:
		return published, 0, nil
	case f.options.Injected:
		return f.ca, 0, nil // better than nothing until it is injected
	case len(f.ca) > 0:
		return mergeBundle(published, f.ca, f.caSince, f.clock.Now())
	case f.problem != nil:
		return nil, 0, f.problem
	}
	return nil, 0, problem(ReasonMissing, "the CA in %s has not been read yet", f.options.CAFile)
}

// GetCertificate is for a tls.Config.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.served == nil {
		return nil, f.problem
	}
	return f.served, nil
}

// Ready returns nil while a certificate is served that the API server takes,
// and else what is wrong with it.
func (f *Files) Ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.served == nil || len(f.trusted) == 0 && !f.options.optionalCA {
		return f.problem
	}
	return f.check(f.served, f.clock.Now())
}

// Problem returns what to tell people: beside what Ready returns also what is
// wrong with the files while a good certificate is still being served.
func (f *Files) Problem() error {
	if err := f.Ready(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.problem
}

func (f *Files) leaf() (*x509.Certificate, error) {
	certificate, err := f.GetCertificate(nil)
	if err != nil {
		return nil, err
	}
	return certificate.Leaf, nil
}

func same(a, b *tls.Certificate) bool {
	return bytes.Equal(a.Certificate[0], b.Certificate[0])
}

// sameIssuer reports whether whoever trusts a trusts b.
func sameIssuer(a, b *x509.Certificate) bool {
	selfSigned := bytes.Equal(b.RawIssuer, b.RawSubject)
	return !selfSigned && len(a.AuthorityKeyId) > 0 &&
		bytes.Equal(a.AuthorityKeyId, b.AuthorityKeyId) && bytes.Equal(a.RawIssuer, b.RawIssuer)
}
