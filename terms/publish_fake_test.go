package terms

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// fakeElections is a candidates.Cache that tests tell what there is.
type fakeElections struct {
	api client.Reader

	mu       sync.Mutex
	set      *candidates.ObjectSet
	tracked  map[types.NamespacedName]bool
	leases   []func(types.NamespacedName)
	policies []func()
	// observed and deleted are the Leases that were, in order.
	observed, deleted []types.NamespacedName
	// broken is a Lease that makes View panic.
	broken types.NamespacedName
	// spec is that of every Election, whatever the API server has. Nil: as there.
	spec *v1alpha1.ElectionSpec
}

var _ Elections = &fakeElections{}
var _ Elections = &candidates.Cache{}
var _ Observer = &candidates.Cache{}

// use replaces all objects and tells of it.
func (f *fakeElections) use(objects ...runtime.Object) {
	set := candidates.NewObjectSet()
	for _, o := range objects {
		set.Add(o)
	}
	f.mu.Lock()
	f.set = set
	tracked, leases, policies := slices.Collect(maps.Keys(f.tracked)), f.leases, f.policies
	f.mu.Unlock()
	for _, handle := range policies {
		handle()
	}
	for _, key := range tracked {
		for _, handle := range leases {
			handle(key)
		}
	}
}

func (f *fakeElections) Synced() error { return nil }

func (f *fakeElections) View(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) (*candidates.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key == f.broken {
		panic("a fault of ours")
	}
	g := f.set.Governing(key)
	if g.Policy == nil {
		return nil, candidates.ErrNotGoverned
	}
	return candidates.Assemble(f.set, g, key, lease, now), nil
}

func (f *fakeElections) Election(key types.NamespacedName) *v1alpha1.Election {
	var e v1alpha1.Election
	if err := f.api.Get(context.Background(), key, &e); err != nil {
		return nil
	}
	if f.spec != nil {
		e.Spec = *f.spec
	}
	return &e
}

func (f *fakeElections) Policies() []*candidates.Policy {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set.Policies()
}

func (f *fakeElections) Track(key types.NamespacedName) {
	f.mu.Lock()
	f.tracked[key] = true
	handlers := f.leases
	f.mu.Unlock()
	for _, handle := range handlers {
		handle(key)
	}
}

func (f *fakeElections) Forget(key types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tracked, key)
}

func (f *fakeElections) Observe(l *coordinationv1.Lease, _ time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observed = append(f.observed, client.ObjectKeyFromObject(l))
}

func (f *fakeElections) Deleted(l *coordinationv1.Lease, _ time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deleted = append(f.deleted, client.ObjectKeyFromObject(l))
}

func (f *fakeElections) Subscribe(handle func(types.NamespacedName)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leases = append(f.leases, handle)
}

func (f *fakeElections) SubscribePolicies(handle func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.policies = append(f.policies, handle)
}

// fakeRecorder keeps Events as "reason kind/name: note".
type fakeRecorder struct {
	mu     sync.Mutex
	events []string
}

func (r *fakeRecorder) Eventf(regarding, _ runtime.Object, _, reason, _, note string, args ...any) {
	about := regarding.(*corev1.ObjectReference)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%s %s/%s: ", reason, about.Kind, about.Name)+fmt.Sprintf(note, args...))
}

// take returns the Events since the last call.
func (r *fakeRecorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.events
	r.events = nil
	return taken
}

// cluster is an API server in memory and a Publisher that works on it, in a
// synctest bubble.
type cluster struct {
	t *testing.T
	client.WithWatch
	elections *fakeElections
	recorder  *fakeRecorder
	metrics   *Metrics
	// registered says which policies are. Nil: all.
	registered *fakeRegistered
	stop       func()

	mu sync.Mutex
	// writes are the objects applied and deleted since they were last taken.
	writes []string
	// refuse is what writes to Elections fail with.
	refuse error
}

// IsWatchListSemanticsUnSupported says that the fake does not stream lists.
func (c *cluster) IsWatchListSemanticsUnSupported() bool { return true }

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	c := &cluster{t: t, recorder: &fakeRecorder{}, metrics: NewMetrics(prometheus.NewRegistry(), clock.RealClock{})}
	c.WithWatch = fake.NewClientBuilder().WithScheme(testScheme(t)).
		WithStatusSubresource(&v1alpha1.Election{}, &v1alpha1.ElectionPolicy{}, &v1alpha1.ClusterElectionPolicy{}).
		WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			List: func(ctx context.Context, w client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				// The fake knows no selector like ours.
				if _, ok := list.(*coordinationv1.LeaseList); ok {
					return w.List(ctx, list)
				}
				return w.List(ctx, list, opts...)
			},
			Apply: func(ctx context.Context, w client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				return c.write("apply", o, func() error { return w.Apply(ctx, o, opts...) })
			},
			SubResourceApply: func(ctx context.Context, w client.Client, sub string, o runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
				return c.write("apply status", o, func() error { return w.SubResource(sub).Apply(ctx, o, opts...) })
			},
			Delete: func(ctx context.Context, w client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				if _, ok := o.(*v1alpha1.Election); !ok {
					return w.Delete(ctx, o, opts...)
				}
				return c.write("delete", o, func() error { return w.Delete(ctx, o, opts...) })
			},
		}).Build()
	c.elections = &fakeElections{api: c.WithWatch, set: candidates.NewObjectSet(), tracked: map[types.NamespacedName]bool{}}
	return c
}

func (c *cluster) write(what string, o any, do func() error) error {
	name := o.(interface{ GetName() string }).GetName()
	c.mu.Lock()
	c.writes = append(c.writes, what+" "+name)
	refuse := c.refuse
	c.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	return do()
}

// took returns the writes since the last call that name holds.
func (c *cluster) took(name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var taken []string
	for _, w := range c.writes {
		if strings.HasSuffix(w, " "+name) {
			taken = append(taken, w)
		}
	}
	c.writes = nil
	return taken
}

func (c *cluster) refuses(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = err
}

// start starts a Publisher, and waits until it has nothing to do.
func (c *cluster) start() {
	c.lead(c.watch())
}

// watch starts a LeaseWatch, as in every replica.
func (c *cluster) watch() *LeaseWatch {
	w := NewLeaseWatch(LeaseWatchOptions{Client: c, Elections: c.elections, Log: logr.Discard()})
	c.run(w.Start)
	return w
}

// lead starts a Publisher, as in the replica that leads, and waits until it has
// nothing to do.
func (c *cluster) lead(w *LeaseWatch) {
	o := PublisherOptions{Client: c, Leases: w, Elections: c.elections, Recorder: c.recorder, Log: logr.Discard(), Metrics: c.metrics}
	if c.registered != nil {
		o.Registration = c.registered
	}
	c.run(NewPublisher(o).Start)
	c.pass(2 * time.Second)
}

// run starts something that ends with the cluster.
func (c *cluster) run(start func(context.Context) error) {
	ctx, cancel := context.WithCancel(c.t.Context())
	done, stop := make(chan struct{}), c.stop
	go func() {
		defer close(done)
		if err := start(ctx); err != nil {
			c.t.Errorf("Start returned %v", err)
		}
	}()
	c.stop = func() {
		cancel()
		<-done
		if stop != nil {
			stop()
		}
	}
}

// pass lets time pass, and waits until nobody has anything to do.
func (c *cluster) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// election is the one of that name, or nil.
func (c *cluster) election(name string) *v1alpha1.Election {
	return c.elections.Election(types.NamespacedName{Namespace: "ns", Name: name})
}

// lease makes or changes a Lease. renewed is the time of the write.
func (c *cluster) lease(name, holder string, acquired time.Time) {
	c.t.Helper()
	now := metav1.NowMicro()
	a, duration := metav1.NewMicroTime(acquired), int32(15)
	spec := coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &duration, AcquireTime: &a, RenewTime: &now}
	key := types.NamespacedName{Namespace: "ns", Name: name}
	// The Publisher may be writing at this moment.
	c.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var l coordinationv1.Lease
		if c.Get(c.t.Context(), key, &l) != nil {
			return c.Create(c.t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: spec})
		}
		l.Spec = spec
		return c.Update(c.t.Context(), &l)
	}))
}

func (c *cluster) deleteLease(name string) {
	c.t.Helper()
	c.must(c.Delete(c.t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}))
}

// inBubble runs a test on a cluster in virtual time. The Leases of its policies
// are "lease" alone.
func inBubble(t *testing.T, test func(t *testing.T, c *cluster), objects ...client.Object) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, objects...)
		test(t, c)
		if c.stop != nil {
			c.stop()
		}
	})
}
