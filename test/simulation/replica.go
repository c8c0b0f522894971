package simulation

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/terms"
	"github.com/leasewarden/leasewarden/test/simulation/api"
	"github.com/leasewarden/leasewarden/webhook"
)

// ownLease is the name of the Lease that the replicas themselves elect by.
const ownLease = "leasewarden"

// username is how the API server names Leasewarden.
var username = serviceaccount.MakeUsername(ownNamespace, "leasewarden")

// replica is one replica of Leasewarden: a process, again and again.
type replica struct {
	w        *world
	name     string
	frontend *api.Frontend
	// changed is told of what the registration depends on.
	changed chan struct{}

	mu      sync.Mutex
	process *process // nil: none runs
	// pause is how long it stays away when it has ended next.
	absence time.Duration
	latency time.Duration
	weather api.Weather
}

// process is one run of it.
type process struct {
	link    *api.Link
	backend *api.Backend
	cancel  context.CancelFunc
	writer  bool
}

func newReplica(w *world, i int) *replica {
	return &replica{w: w, name: fmt.Sprintf("leasewarden-%d", i), frontend: w.frontends[i%len(w.frontends)], weather: api.Calm, changed: make(chan struct{}, 1)}
}

// live runs the process, and restarts it.
func (r *replica) live(start time.Duration) {
	time.Sleep(start)
	for n := uint64(0); r.w.ctx.Err() == nil; n++ {
		r.run(n)
		r.mu.Lock()
		absence := r.absence
		r.absence = 0
		r.mu.Unlock()
		time.Sleep(api.Skewed(api.Draw(r.w.seed, r.name+" restart", n), time.Second, 10*time.Second) + absence)
	}
}

// run is one process, from its start to its end.
func (r *replica) run(n uint64) {
	ctx, cancel := context.WithCancel(r.w.ctx)
	defer cancel()
	name := fmt.Sprintf("%s.%d", r.name, n)
	p := &process{link: r.frontend.Link(name, authenticationv1.UserInfo{Username: username}, 0), cancel: cancel}
	r.mu.Lock()
	p.link.SetWeather(r.weather)
	r.process = p
	r.mu.Unlock()
	r.w.trace.add("%s starts", name)

	filled, err := candidates.New(candidates.Options{Config: p.link.Config(), Namespace: ownNamespace, Clock: clock.RealClock{}})
	if err != nil {
		panic(err)
	}
	cache := &elections{Cache: filled, plant: r.w.options.Plant, watchdog: r.w.watchdog, seen: map[types.NamespacedName]sighting{}}
	var running sync.WaitGroup
	running.Go(func() { _ = cache.Start(ctx) })
	running.Go(func() { r.serve(ctx, p, name, cache) })
	c, err := client.NewWithWatch(p.link.Config(), client.Options{Scheme: scheme(), Mapper: mapper()})
	if err != nil {
		panic(err)
	}
	watch := terms.NewLeaseWatch(terms.LeaseWatchOptions{Client: c, Elections: cache, Log: logr.Discard()})
	running.Go(func() { _ = watch.Start(ctx) })
	r.elect(ctx, p, name, func(ctx context.Context) { r.write(ctx, c, watch, cache) })
	cancel()
	running.Wait()
	p.link.Kill()
	r.mu.Lock()
	r.process = nil
	r.mu.Unlock()
	r.w.trace.add("%s has ended", name)
}

// serve is the webhook: in the Service as soon as the caches are filled, and for a
// moment after its end.
func (r *replica) serve(ctx context.Context, p *process, name string, cache *elections) {
	for cache.Synced() != nil {
		if !sleep(ctx, 300*time.Millisecond) {
			return
		}
	}
	leases := &webhook.Leases{
		Elections: cache, Username: username,
		Metrics: webhook.NewMetrics(prometheus.NewRegistry()), Log: logr.Discard(),
	}
	mux := http.NewServeMux()
	mux.Handle(webhook.ValidateLeasePath, r.w.options.Plant.wrap(&checked{leases.Validating(), r.w.watchdog, cache}))
	mux.Handle(webhook.MutateLeasePath, r.w.options.Plant.wrap(leases.Mutating()))
	b := r.w.api.Serve(name, mux)
	r.mu.Lock()
	p.backend = b
	b.SetLatency(r.latency)
	r.mu.Unlock()
	r.w.trace.add("%s serves", name)
	<-ctx.Done()
	b.Kill()
	time.Sleep(api.Skewed(api.Draw(r.w.seed, name+" withdrawn", 0), 0, 5*time.Second))
	r.w.api.Withdraw(b)
}

// elect runs lead while the process is the one that writes, until ctx ends or it
// is not any more.
func (r *replica) elect(ctx context.Context, p *process, name string, lead func(context.Context)) {
	var led sync.WaitGroup
	defer led.Wait()
	led.Add(1)
	once := sync.OnceFunc(led.Done)
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: ownNamespace, Name: ownLease},
			Client:    api.LeaseClient{Link: p.link}, LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10*time.Second + odd, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true, Name: "leasewarden",
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer once()
				r.setWriter(p, true)
				lead(ctx)
				r.setWriter(p, false)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		panic(err)
	}
	le.Run(klog.NewContext(ctx, logr.Discard()))
	if !r.wasWriter(p, le) {
		once()
	}
}

// wasWriter reports whether OnStartedLeading was called, or is about to be.
func (r *replica) wasWriter(p *process, le *leaderelection.LeaderElector) bool {
	time.Sleep(time.Nanosecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.writer
}

func (r *replica) setWriter(p *process, writer bool) {
	r.mu.Lock()
	p.writer = writer
	r.mu.Unlock()
	if writer {
		r.w.trace.add("%s writes", p.link.Name)
		r.doom()
	}
}

// doom has the first writer die at one of its writes, if that is what is played.
func (r *replica) doom() {
	r.w.mu.Lock()
	doom := r.w.options.DieAt > 0 && !r.w.doomed
	r.w.doomed = r.w.doomed || doom
	r.w.mu.Unlock()
	if doom {
		r.fuse(r.w.options.DieAt, r.w.options.Applied, 0)
	}
}

// write is what only one replica does.
func (r *replica) write(ctx context.Context, c client.WithWatch, watch *terms.LeaseWatch, cache *elections) {
	registration := &terms.Registration{
		Client: c, Namespace: ownNamespace, Namespaces: c, Trust: trust{},
		Endpoint: terms.Endpoint{Namespace: ownNamespace, Service: "leasewarden", ValidateLease: webhook.ValidateLeasePath,
			MutateLease: webhook.MutateLeasePath, ValidatePolicy: webhook.ValidatePolicyPath},
	}
	publisher := terms.NewPublisher(terms.PublisherOptions{
		Client: r.w.options.Plant.client(c), Leases: watch, Elections: cache, Recorder: recorder{r.w.trace}, Log: logr.Discard(),
		Registration: registration,
	})
	var running sync.WaitGroup
	running.Go(func() { _ = publisher.Start(ctx) })
	running.Go(func() { _ = cache.Expirer().Start(ctx) })
	running.Go(func() { r.register(ctx, registration, cache) })
	running.Wait()
}

// reconcile has the registration looked at, a moment after a change of it.
func (w *world) reconcile() {
	time.AfterFunc(api.Calm.Delay, func() {
		for _, r := range w.replicas {
			r.notify()
		}
	})
}

func (r *replica) notify() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// register keeps the webhook registered, as the manager's controller does: it
// looks at what there is whenever a policy or the registration is changed.
func (r *replica) register(ctx context.Context, registration *terms.Registration, cache *elections) {
	cache.SubscribePolicies(r.notify)
	for ctx.Err() == nil {
		result, err := registration.Reconcile(klog.NewContext(ctx, logr.Discard()), ctrl.Request{})
		wait := time.Hour
		switch {
		case err != nil:
			wait = time.Second
		case result.RequeueAfter > 0:
			wait = result.RequeueAfter
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-r.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// trust is a certificate authority that nobody checks here.
type trust struct{}

// Bundle implements terms.Trust.
func (trust) Bundle([]byte) ([]byte, time.Duration, error) { return []byte("ca"), 0, nil }

// recorder has Events in the trace.
type recorder struct{ trace *trace }

// Eventf implements events.EventRecorder.
func (r recorder) Eventf(_, related runtime.Object, _, reason, _, note string, args ...any) {
	if related == nil {
		r.trace.add("event %s: %s", reason, fmt.Sprintf(note, args...))
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
})

// mapper knows the scopes of what the writer writes.
var mapper = sync.OnceValue(func() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	api.Kinds(func(gvk schema.GroupVersionKind, namespaced bool) {
		scope := meta.RESTScopeRoot
		if namespaced {
			scope = meta.RESTScopeNamespace
		}
		m.Add(gvk, scope)
	})
	return m
})

// kill ends the process without a word.
func (r *replica) kill(absence time.Duration) {
	r.mu.Lock()
	p := r.process
	r.absence = absence
	if p != nil && p.backend != nil {
		p.backend.Kill()
	}
	r.mu.Unlock()
	if p != nil {
		p.link.Kill()
		p.cancel()
	}
}

func (w *world) noteDeath() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.died = true
}

// fuse kills it at its n-th write from now on, its own Lease not counted.
func (r *replica) fuse(n int, applied bool, absence time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.process; p != nil {
		p.link.Fuse(n, applied, ownLease, func() {
			r.w.trace.add("%s dies at a write, applied %t", p.link.Name, applied)
			r.w.noteDeath()
			r.w.watchdog.disturb(absence + lateAfter)
			r.kill(absence)
		})
	}
}

// stop ends it as a rollout does.
func (r *replica) stop(absence time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absence = min(absence, 20*time.Second)
	if r.process != nil {
		r.process.cancel()
	}
}

func (r *replica) pause() {
	r.slow(time.Hour)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		r.process.link.Pause()
	}
}

func (r *replica) resume() {
	r.slow(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		r.process.link.Resume()
	}
}

// slow is how long the webhook takes to answer.
func (r *replica) slow(latency time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latency = latency
	if r.process != nil && r.process.backend != nil {
		r.process.backend.SetLatency(latency)
	}
}

func (r *replica) fare(weather api.Weather) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.weather = weather
	if r.process != nil {
		r.process.link.SetWeather(weather)
	}
}

// cutWatches ends all its watches, as a lost connection does.
func (r *replica) cutWatches() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		r.w.api.CutWatches(r.process.link)
	}
}

func (r *replica) isWriter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process != nil && r.process.writer
}

// calm ends what goes wrong with it. The writer starts anew, for it remembers
// for long who did not take a Lease.
func (r *replica) calm() {
	r.fare(api.Calm)
	r.resume()
	if r.isWriter() {
		r.stop(0)
	}
}
