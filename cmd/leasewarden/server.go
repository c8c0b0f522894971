package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/certs"
	"github.com/leasewarden/leasewarden/terms"
	"github.com/leasewarden/leasewarden/webhook"
)

// server is what leasewarden serve runs. The manager starts with the endpoints
// and the certificates; the rest joins it once the cluster is ready for it.
type server struct {
	options *serveOptions
	manager ctrl.Manager
	certs   certificates
	// clients demands a certificate of them. Nil: they need none.
	clients *certs.ClientCA
	cluster *cluster
	metrics *webhook.Metrics
	log     logr.Logger

	// listening is whether the webhook was found to listen.
	listening atomic.Bool

	mu    sync.Mutex
	cache *candidates.Cache
}

func newServer(o *serveOptions) (*server, error) {
	s := &server{options: o, log: ctrl.Log.WithName("serve"), metrics: webhook.NewMetrics(metrics.Registry)}
	var err error
	if s.cluster, err = newCluster(o.config, s.log); err != nil {
		return nil, err
	}
	if s.certs, err = o.newCertificates(o.config); err != nil {
		return nil, err
	}
	if path := o.certificate.clientCAFile; path != "" {
		if s.clients, err = certs.NewClientCA(path); err != nil {
			return nil, fmt.Errorf("--client-ca-file: %w", err)
		}
	}
	if s.manager, err = s.newManager(); err != nil {
		return nil, err
	}
	health, err := newHealthServer(o.healthBindAddress, s.ready)
	if err != nil {
		return nil, err
	}
	s.manager.GetWebhookServer() // adds itself
	reporter := &certs.Reporter{
		Problem: s.certs.Problem, Recorder: s.manager.GetEventRecorder(terms.FieldManager), Regarding: s.self, Clock: clock.RealClock{},
	}
	runnables := []manager.Runnable{s.certs, reporter, everyReplica(s.join)}
	if s.clients != nil {
		runnables = append(runnables, s.clients)
	}
	if health != nil {
		runnables = append(runnables, health)
	}
	for _, r := range runnables {
		if err := s.manager.Add(r); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *server) newManager() (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	o := s.options
	return ctrl.NewManager(o.config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: o.metricsBindAddress},
		HealthProbeBindAddress:        "0", // see newHealthServer
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "leasewarden",
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
		WebhookServer: newWebhookServer(ctrlwebhook.Options{
			Host: o.webhookBindAddress, Port: o.webhookPort, TLSOpts: []func(*tls.Config){s.configureTLS},
		}),
		Cache: cache.Options{
			DefaultWatchErrorHandler: withoutMissing,
			ByObject: map[client.Object]cache.ByObject{
				&admissionregistrationv1.ValidatingWebhookConfiguration{}: onlyOurs(),
				&admissionregistrationv1.MutatingWebhookConfiguration{}:   onlyOurs(),
			},
		},
	})
}

// onlyOurs keeps other people's webhook configurations out of the cache, and
// the right to read them out of our role.
func onlyOurs() cache.ByObject {
	return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", terms.ConfigurationName)}
}

func (s *server) configureTLS(c *tls.Config) {
	c.MinVersion = tlsVersions[s.options.certificate.minVersion]
	c.GetCertificate = s.certs.GetCertificate
	if s.clients != nil {
		s.clients.Configure(c)
	}
}

// join starts what needs the cluster's help, once it can be had.
func (s *server) join(ctx context.Context) error {
	username, err := s.cluster.wait(ctx)
	if err != nil {
		return nil // we are asked to end
	}
	warnOfPerson(s.log, username)
	c, err := candidates.New(candidates.Options{
		Config: s.options.config, Namespace: s.options.namespace, Clock: clock.RealClock{}, Logger: ctrl.Log.WithName("candidates"),
	})
	if err != nil {
		return err
	}
	s.setCache(c)
	s.handle(c, username)
	if err := errors.Join(s.manager.Add(c), s.manager.Add(c.Expirer())); err != nil {
		return err
	}
	leases, err := terms.LeaseWatchOptions{Elections: c}.SetupWithManager(s.manager)
	if err != nil {
		return err
	}
	if err := s.manager.Add(s.forget(c, leases)); err != nil {
		return err
	}
	publisher := terms.PublisherOptions{Leases: leases, Elections: c, DryRun: s.options.dryRun}
	if s.options.manageWebhooks {
		registration := &terms.Registration{
			Client: s.manager.GetClient(), Namespace: s.options.namespace, Endpoint: s.options.endpoint(), Trust: s.certs,
			InjectCAFrom: s.options.certificate.injectFrom,
		}
		if err := registration.SetupWithManager(s.manager, s.certs.Changed()); err != nil {
			return err
		}
		publisher.Registration = registration
	}
	return publisher.SetupWithManager(s.manager)
}

// handle serves the webhook. Before, its paths are not found, which the API
// server takes for a failed webhook.
func (s *server) handle(c *candidates.Cache, username string) {
	leases := &webhook.Leases{
		Elections: c, Username: username, DryRun: s.options.dryRun, Metrics: s.metrics, Log: ctrl.Log.WithName("webhook"),
	}
	policies := &webhook.Policies{Metrics: s.metrics, Log: ctrl.Log.WithName("webhook")}
	server := s.manager.GetWebhookServer()
	server.Register(webhook.ValidateLeasePath, leases.Validating())
	server.Register(webhook.MutateLeasePath, leases.Mutating())
	server.Register(webhook.ValidatePolicyPath, policies.Validating())
}

func (s *server) setCache(c *candidates.Cache) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache = c
}

// ready says what the server waits for.
func (s *server) ready() []check {
	s.mu.Lock()
	c := s.cache
	s.mu.Unlock()
	certificate := check{"certificate", s.certs.Ready()}
	checks := []check{{"cluster", s.cluster.ready()}, certificate}
	if certificate.err == nil { // without one nothing can connect
		checks = append(checks, check{"webhook", s.listens()})
	}
	if c != nil {
		checks = append(checks, check{"caches", c.Synced()})
	}
	return checks
}

// listens asks the webhook until it listens, which ends with the process. Going
// on to ask would fill the log where clients must have a certificate.
func (s *server) listens() error {
	if s.listening.Load() {
		return nil
	}
	err := s.manager.GetWebhookServer().StartedChecker()(nil)
	s.listening.Store(err == nil)
	return err
}

// everyReplica is a Runnable that needs no leader election.
type everyReplica func(context.Context) error

func (f everyReplica) Start(ctx context.Context) error { return f(ctx) }
func (everyReplica) NeedLeaderElection() bool          { return false }
