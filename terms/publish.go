package terms

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// FieldManager owns the fields that Leasewarden applies.
const FieldManager = "leasewarden"

const (
	// electionWorkers bounds how many Elections are worked on at once, so that
	// one slow write does not hold up all others.
	electionWorkers = 4
	// firstRetry and lastRetry bound the wait after a failed write. It doubles
	// with each one.
	firstRetry = 200 * time.Millisecond
	lastRetry  = time.Minute
	// takeUpRetry is the wait after a failed list of the Elections, listPage how
	// many are asked for at once.
	takeUpRetry = 5 * time.Second
	listPage    = 500
	// settling is how long the status of a policy waits for more news: a policy
	// that appears comes with many Leases.
	settling = time.Second
)

// Elections is what the Publisher needs to know of the elections.
// *candidates.Cache is one.
type Elections interface {
	// Synced returns an error while the caches are being filled.
	Synced() error
	// View is what is known of a governed Lease, which is nil if it does not
	// exist. It returns candidates.ErrNotGoverned or candidates.ErrNotSynced.
	View(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) (*candidates.View, error)
	// Election is the published one, or nil.
	Election(key types.NamespacedName) *v1alpha1.Election
	// Policies are all policies, the invalid and disabled ones too.
	Policies() []*candidates.Policy
	// Subscribe calls back for each Lease that an event concerns,
	// SubscribePolicies if a policy has changed.
	Subscribe(func(types.NamespacedName))
	SubscribePolicies(func())
}

// Registered says which policies are registered. *Registration is one.
type Registered interface {
	// Problem says why a policy is not. Empty: it is.
	Problem(*candidates.Policy) string
	// Subscribe calls back after that may have changed.
	Subscribe(func())
}

// PublisherOptions say how a Publisher works.
type PublisherOptions struct {
	// Client writes, and reads past any cache.
	Client client.Client
	// Leases are those of the cluster. Somebody else has to run the watch.
	Leases *LeaseWatch
	// Elections is what it publishes.
	Elections Elections
	// Registration says which policies the API server knows of. Nil: somebody
	// else registers the webhook, and all of them count as registered.
	Registration Registered
	// Recorder takes the Events.
	Recorder events.EventRecorder
	// Log gets a line when publishing fails, and when it works again.
	Log logr.Logger
	// Clock is the time. Default: the real one.
	Clock clock.WithTicker
	// DryRun treats every policy as one in the mode DryRun.
	DryRun bool
	// Metrics count what is done about terms. Default: those of nobody, and in a
	// manager those of its registry.
	Metrics *Metrics
	// WritesPerSecond bounds the writes to Elections, all together. Bursts of
	// twice as many are let through. Default: 50.
	WritesPerSecond float64
}

// Publisher keeps an Election for each governed Lease, and the status of the
// policies, and does what there is to do about the terms of the holders. It runs
// in one replica.
type Publisher struct {
	PublisherOptions

	leases    *leases
	elections workqueue.TypedRateLimitingInterface[types.NamespacedName]
	policies  workqueue.TypedRateLimitingInterface[picker.PolicyRef]
	published publications
	governed  governed
	statuses  policyStatuses
	limits    writeLimits
	outage    outage
}

// NewPublisher makes a Publisher. Client, Leases, Elections and Recorder are
// needed.
func NewPublisher(o PublisherOptions) *Publisher {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry(), o.Clock)
	}
	if o.WritesPerSecond == 0 {
		o.WritesPerSecond = 50
	}
	return &Publisher{
		PublisherOptions: o,
		leases:           o.Leases.leases,
		elections:        newQueue[types.NamespacedName]("elections", o.Clock),
		policies:         newQueue[picker.PolicyRef]("policies", o.Clock),
		limits:           newWriteLimits(o.WritesPerSecond),
		outage:           outage{writes: o.Metrics.refused},
	}
}

func newQueue[T comparable](name string, c clock.WithTicker) workqueue.TypedRateLimitingInterface[T] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[T](firstRetry, lastRetry),
		workqueue.TypedRateLimitingQueueConfig[T]{Name: name, Clock: c})
}

// SetupWithManager has the manager run a Publisher in the leader. The Client,
// Recorder and Log are the manager's where the options leave them out.
func (o PublisherOptions) SetupWithManager(mgr ctrl.Manager) error {
	if o.Client == nil {
		var err error
		o.Client, err = client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
		if err != nil {
			return fmt.Errorf("making the client of the publisher: %w", err)
		}
	}
	if o.Recorder == nil {
		o.Recorder = mgr.GetEventRecorder(FieldManager)
	}
	if o.Log.GetSink() == nil {
		o.Log = mgr.GetLogger().WithName("publisher")
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(metrics.Registry, cmp.Or[clock.PassiveClock](o.Clock, clock.RealClock{}))
	}
	return mgr.Add(NewPublisher(o))
}

// NeedLeaderElection has only one replica write.
func (p *Publisher) NeedLeaderElection() bool { return true }

// Start publishes until ctx is done. It waits as long as it takes for the
// caches, and for the CRDs, and never fails.
func (p *Publisher) Start(ctx context.Context) error {
	p.Elections.Subscribe(p.enqueue)
	p.Elections.SubscribePolicies(p.enqueuePolicies)
	p.leases.subscribe(p.enqueue)
	if p.Registration != nil {
		p.Registration.Subscribe(p.enqueueRegistrations)
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer p.policies.ShutDown()
	defer p.elections.ShutDown()
	if !await(ctx, p.Clock, p.Log, p.Elections.Synced) || !p.takeUp(ctx) {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-p.leases.filled:
	}
	for _, key := range p.leases.keys() {
		p.enqueue(key)
	}
	p.enqueuePolicies()
	for range electionWorkers {
		running.Go(func() { work(ctx, p.Log, p.elections, p.publish) })
	}
	running.Go(func() { work(ctx, p.Log, p.policies, p.publishPolicy) })
	<-ctx.Done()
	return nil
}

func (p *Publisher) sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-p.Clock.After(d):
		return true
	}
}

// enqueue has a Lease looked at: something was changed for it.
func (p *Publisher) enqueue(key types.NamespacedName) {
	p.published.mark(key)
	p.elections.Add(key)
}

// takeUp takes up the Elections as they are: those of Leases that are governed
// are gone on with, the others are removed. It returns false if ctx is done
// before.
func (p *Publisher) takeUp(ctx context.Context) bool {
	for {
		err := p.listElections(ctx)
		if err == nil || absent(err) {
			return true
		}
		p.outage.failed(p.Log, err)
		if !p.sleep(ctx, takeUpRetry) {
			return false
		}
	}
}

func (p *Publisher) listElections(ctx context.Context) error {
	var list v1alpha1.ElectionList
	for {
		if err := p.Client.List(ctx, &list, client.Limit(listPage), client.Continue(list.Continue)); err != nil {
			return err
		}
		for i := range list.Items {
			key := client.ObjectKeyFromObject(&list.Items[i])
			p.published.get(key).take(&list.Items[i])
			p.elections.Add(key)
		}
		if list.Continue == "" {
			return nil
		}
		list.Items = nil
	}
}

// work takes keys from a queue until it is shut down. do says when to do the
// same again: after a time, or by the error sooner and then ever later.
func work[T comparable](ctx context.Context, log logr.Logger, queue workqueue.TypedRateLimitingInterface[T], do func(context.Context, T) (time.Duration, error)) {
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		again, err := safely(ctx, key, do)
		switch {
		case err != nil:
			log.V(1).Info("Trying again", "key", key, "error", err.Error())
			queue.AddRateLimited(key)
		case again > 0:
			queue.Forget(key)
			queue.AddAfter(key, again)
		default:
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

// safely turns a panic into an error: one Lease whose policy brings out a fault
// of ours must not keep the others from being published.
func safely[T any](ctx context.Context, key T, do func(context.Context, T) (time.Duration, error)) (again time.Duration, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return do(ctx, key)
}
