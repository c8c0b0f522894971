package terms

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/candidates"
)

// Observer is told how the Leases are. *candidates.Cache is one.
type Observer interface {
	// Synced returns an error while it does not know yet which Leases are
	// governed.
	Synced() error
	// Track and Forget say which Leases exist.
	Track(key types.NamespacedName)
	Forget(key types.NamespacedName)
	// Observe and Deleted say how a Lease is, and how it was when it was
	// deleted.
	Observe(lease *coordinationv1.Lease, now time.Time)
	Deleted(lease *coordinationv1.Lease, now time.Time)
}

// LeaseWatchOptions say how a LeaseWatch works.
type LeaseWatchOptions struct {
	// Client watches the Leases.
	Client client.WithWatch
	// Elections are told of them.
	Elections Observer
	// Log gets what goes wrong.
	Log logr.Logger
	// Clock is the time. Default: the real one.
	Clock clock.WithTicker
}

// LeaseWatch watches the Leases of the cluster, in every replica: each rules by
// what it has seen itself, such as how much is left of the term of a Lease that
// was deleted. It writes nothing.
type LeaseWatch struct {
	LeaseWatchOptions
	leases *leases
}

// NewLeaseWatch makes a LeaseWatch. Client and Elections are needed.
func NewLeaseWatch(o LeaseWatchOptions) *LeaseWatch {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &LeaseWatch{LeaseWatchOptions: o, leases: newLeases(o.Clock, o.Elections)}
}

// SetupWithManager has the manager run a LeaseWatch, and returns it. Client and
// Log are the manager's where the options leave them out.
func (o LeaseWatchOptions) SetupWithManager(mgr ctrl.Manager) (*LeaseWatch, error) {
	if o.Client == nil {
		var err error
		o.Client, err = client.NewWithWatch(gatherRenewals(mgr.GetConfig()), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
		if err != nil {
			return nil, fmt.Errorf("making the client that watches Leases: %w", err)
		}
	}
	if o.Log.GetSink() == nil {
		o.Log = mgr.GetLogger().WithName("leases")
	}
	w := NewLeaseWatch(o)
	return w, mgr.Add(w)
}

// Exists reports whether there is such a Lease, as far as the watch has told.
func (w *LeaseWatch) Exists(lease types.NamespacedName) bool {
	w.leases.mu.Lock()
	defer w.leases.mu.Unlock()
	return w.leases.objects[lease] != nil
}

// NeedLeaderElection has every replica watch.
func (w *LeaseWatch) NeedLeaderElection() bool { return false }

// Start watches until ctx is done, and never fails. The Leases of the nodes, which
// are most of the renewals there are, stay with the API server.
func (w *LeaseWatch) Start(ctx context.Context) error {
	if !await(ctx, w.Clock, w.Log, w.Elections.Synced) {
		return nil
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := &coordinationv1.LeaseList{}
			return list, w.Client.List(ctx, list, leaseOptions(&o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return w.Client.Watch(ctx, &coordinationv1.LeaseList{}, leaseOptions(&o))
		},
	}
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(lw, w.Client),
		&coordinationv1.Lease{}, w.leases, cache.ReflectorOptions{Name: "leases", Logger: &w.Log})
	reflector.RunWithContext(ctx)
	return nil
}

func leaseOptions(raw *metav1.ListOptions) *client.ListOptions {
	return &client.ListOptions{
		Raw:           raw,
		FieldSelector: fields.OneTermNotEqualSelector("metadata.namespace", candidates.NodeLeaseNamespace),
	}
}

// syncPoll is how often what is waited for is asked again.
const syncPoll = 200 * time.Millisecond

// await waits until synced returns no error. It returns false if ctx is done
// before.
func await(ctx context.Context, c clock.WithTicker, log logr.Logger, synced func() error) bool {
	for {
		err := synced()
		if err == nil {
			return true
		}
		log.V(1).Info("Waiting", "reason", err.Error())
		select {
		case <-ctx.Done():
			return false
		case <-c.After(syncPoll):
		}
	}
}
