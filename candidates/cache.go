package candidates

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// DefaultDiscoveryInterval is how often a Cache asks whether the API server
// serves LeaseCandidates, and in which version.
const DefaultDiscoveryInterval = 30 * time.Second

// Options of a Cache.
type Options struct {
	// Config says how to reach the API server. Required.
	Config *rest.Config
	// Namespace is where Leasewarden runs. Its Leases are never governed. Empty
	// outside a cluster.
	Namespace string
	// Clock is the time. Default: the real one.
	Clock clock.WithTicker
	// Logger gets what goes wrong. Default: nothing is logged.
	Logger logr.Logger
	// DiscoveryInterval is how often to look for LeaseCandidates. Default:
	// DefaultDiscoveryInterval.
	DiscoveryInterval time.Duration
}

// Cache keeps what candidates are made from in memory, up to date with a
// cluster: policies, Namespaces and Nodes (labels only), Candidates, Elections,
// LeaseCandidates, and of all Pods only those that a policy selects, trimmed
// to the fields that are used. It never asks the API server while it answers.
// A Cache is safe for concurrent use, and is a controller-runtime Runnable.
type Cache struct {
	clients   *clients
	clock     clock.WithTicker
	logger    logr.Logger
	discovery time.Duration
	backoff   wait.Backoff
	ledger    *ledger
	registrar *registrar

	everSynced atomic.Bool

	// ctx ends with Start; running are the watches that end then.
	ctx     context.Context
	running sync.WaitGroup

	// mu guards what follows.
	mu      sync.RWMutex
	state   *state
	watches map[*watched]struct{}
	started bool
	// podWatches and scopesOf say what is watched for which policy.
	podWatches map[scope]*podWatch
	scopesOf   map[*Policy][]scope
	nodes      *watched
	served     servedLeaseCandidates
	// handlers are told of changes.
	leaseHandlers  []func(types.NamespacedName)
	policyHandlers []func()
}

// New makes a Cache. It does nothing before Start.
func New(o Options) (*Cache, error) {
	if o.Config == nil {
		return nil, errors.New("candidates: Options.Config is missing")
	}
	c, err := newClients(o.Config)
	if err != nil {
		return nil, fmt.Errorf("candidates: client for %s: %w", o.Config.Host, err)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger.GetSink() == nil {
		o.Logger = logr.Discard()
	}
	if o.DiscoveryInterval <= 0 {
		o.DiscoveryInterval = DefaultDiscoveryInterval
	}
	cache := &Cache{
		clients:    c,
		clock:      o.Clock,
		logger:     o.Logger,
		discovery:  o.DiscoveryInterval,
		backoff:    watchBackoff,
		ledger:     newLedger(),
		registrar:  newRegistrar(c.own, o.Clock, o.Logger),
		state:      newState(o.Namespace),
		watches:    map[*watched]struct{}{},
		podWatches: map[scope]*podWatch{},
		scopesOf:   map[*Policy][]scope{},
	}
	cache.state.policies.moved = cache.policyChanged
	return cache, nil
}

// Start fills the Cache and keeps it up to date until ctx ends.
func (c *Cache) Start(ctx context.Context) error {
	c.mu.Lock()
	c.ctx, c.started = ctx, true
	c.watchBase()
	c.mu.Unlock()
	c.running.Go(func() { c.discoverLeaseCandidates(ctx) })
	c.running.Go(func() { c.registrar.run(ctx) })
	<-ctx.Done()
	c.running.Wait()
	return nil
}

// NeedLeaderElection says that every replica runs its own Cache.
func (c *Cache) NeedLeaderElection() bool { return false }

// Synced returns nil once everything that decisions are made from has arrived
// after the start. Until then the error, which wraps ErrNotSynced, names what
// is missing and why. A resource that the API server does not know is not
// waited for. A policy that comes later, whose Pods have to be listed first,
// does not take it back: View and Attempt tell for the Leases concerned, and
// all others must not do without us meanwhile.
func (c *Cache) Synced() error {
	if c.everSynced.Load() {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	err := c.unsynced()
	c.everSynced.Store(err == nil)
	return err
}

// unsynced says what has not arrived.
func (c *Cache) unsynced() error {
	if !c.started {
		return fmt.Errorf("candidates: not started: %w", ErrNotSynced)
	}
	missing := c.unfilled()
	if !c.served.known {
		missing = append(missing, "whether the API server has LeaseCandidates")
	}
	if len(missing) > 0 {
		return fmt.Errorf("candidates: %w: %s", ErrNotSynced, strings.Join(missing, "; "))
	}
	return nil
}

// Governing says which policy governs a Lease. It is empty until the policies
// have arrived (see Synced).
func (c *Cache) Governing(lease types.NamespacedName) Governance {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.governing(lease)
}

// Policies are all policies, the disabled and the invalid ones (Errors) too.
func (c *Cache) Policies() []*Policy {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.policies.All()
}

// Governed is how many of the tracked Leases the policy governs.
func (c *Cache) Governed(ref picker.PolicyRef) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.tracking.count(c.state.policies.Get(ref))
}

// LeaseCandidates are those that name the Lease, in the order of their names.
// They must not be changed.
func (c *Cache) LeaseCandidates(lease types.NamespacedName) []*coordinationv1beta1.LeaseCandidate {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.LeaseCandidates(lease)
}

// Candidates are those that name the Lease, in the order of their names. They
// must not be changed.
func (c *Cache) Candidates(lease types.NamespacedName) []*v1alpha1.Candidate {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.Candidates(lease)
}

// Election is the Lease's, or nil. It must not be changed.
func (c *Cache) Election(lease types.NamespacedName) *v1alpha1.Election {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.Election(lease)
}

// Track takes up a Lease that exists, whether or not a policy governs it now.
// Handlers are told about tracked Leases only.
func (c *Cache) Track(lease types.NamespacedName) {
	c.mu.RLock()
	known := c.state.tracking.has(lease)
	c.mu.RUnlock()
	if !known {
		c.update(func() { c.state.track(lease) })
	}
}

// Forget drops a Lease that does not exist any more.
func (c *Cache) Forget(lease types.NamespacedName) {
	c.update(func() { c.state.tracking.remove(lease) })
}

// Observe notes what a Lease says now, by our own clock, so that later rulings
// know how old its record is. View does so by itself.
func (c *Cache) Observe(lease *coordinationv1.Lease, now time.Time) {
	key := types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}
	if c.isGoverned(key) {
		c.ledger.observe(key, lease, now, true)
	}
}

// isGoverned reports whether a policy governs the Lease. Of a tracked Lease that
// is known and costs a look-up: it is asked for each renewal.
func (c *Cache) isGoverned(key types.NamespacedName) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.state.tracking.has(key) {
		return c.state.tracking.governor(key) != nil
	}
	return c.state.governing(key).Policy != nil
}

// Deleted notes that a Lease was deleted while it looked like this: what is
// left of its term still counts for the next attempt (Ballot.TermEnds).
func (c *Cache) Deleted(lease *coordinationv1.Lease, now time.Time) {
	key := types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}
	if c.isGoverned(key) {
		c.ledger.deleted(key, lease, now)
	}
}

// View is what is known of a governed Lease. lease is the Lease as it is, nil
// if it does not exist. It returns an error that wraps ErrNotGoverned, or
// ErrNotSynced while something that the Lease's policy needs is missing.
func (c *Cache) View(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) (*View, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	g, err := c.governs(key)
	if err != nil {
		return nil, err
	}
	return assemble(c.state, g, key, lease, c.ledger.observe(key, lease, now, true), now).recall(c.state, g.Policy, key), nil
}

// governs says which policy governs a Lease, once all is there to say so and
// to know its candidates.
func (c *Cache) governs(key types.NamespacedName) (Governance, error) {
	if missing := c.missing(); missing != "" {
		return Governance{}, fmt.Errorf("Lease %s: %w: %s", key, ErrNotSynced, missing)
	}
	g := c.state.governing(key)
	if g.Policy == nil {
		return g, fmt.Errorf("Lease %s: %w", key, ErrNotGoverned)
	}
	if g.Policy.pods == nil {
		return g, nil
	}
	if sc := c.state.scopeOf(g.Policy, key.Namespace); sc == nil || !sc.filled() {
		return g, fmt.Errorf("Lease %s: %w: Pods with labels %s of %s", key, ErrNotSynced, g.Policy.pods.key, g.Policy.Ref)
	}
	return g, nil
}

// missing names a watch that every decision needs and that is not filled.
func (c *Cache) missing() string {
	switch {
	case !c.started:
		return "not started"
	case !c.served.known:
		return "whether the API server has LeaseCandidates"
	}
	for w := range c.watches {
		if w.base && !w.optional && !w.filled() {
			return w.what
		}
	}
	return ""
}

// update changes the state, and then tells the handlers what was changed.
func (c *Cache) update(change func()) {
	c.mu.Lock()
	change()
	leases, policies := c.state.takeTouched()
	leaseHandlers, policyHandlers := c.leaseHandlers, c.policyHandlers
	c.mu.Unlock()
	for lease := range leases {
		for _, handle := range leaseHandlers {
			handle(lease)
		}
	}
	if policies {
		for _, handle := range policyHandlers {
			handle()
		}
	}
}

// Subscribe has handle called for each tracked Lease for which a policy, a
// candidate or what a person wants was changed. It may be called from several
// goroutines and must not block: adding to a workqueue, which also makes one
// of many, is right. What changes by time alone is not told.
func (c *Cache) Subscribe(handle func(types.NamespacedName)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaseHandlers = append(c.leaseHandlers, handle)
}

// SubscribePolicies has handle called after a policy was changed. The rules of
// Subscribe hold.
func (c *Cache) SubscribePolicies(handle func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policyHandlers = append(c.policyHandlers, handle)
}
