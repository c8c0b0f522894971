package candidates

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	// writeEvery is the least time between two writes of one Candidate.
	writeEvery = 2 * time.Second
	// renewEvery is how often the Candidate of an identity that keeps trying is
	// renewed. It has to be well within RegistrationTTL and no sooner: the
	// replica that sees the attempts knows of them anyway.
	renewEvery = time.Minute
	// maxPending bounds the writes that wait. What is beyond is written at a
	// later attempt.
	maxPending = 4096
	// maxRetries is how often a write that failed is tried again before the
	// next attempt has to bring it back.
	maxRetries = 5
	// writeTimeout bounds one write.
	writeTimeout = 10 * time.Second
)

// candidatesResource is the resource of leasewarden.dev.
const candidatesResource = "candidates"

// managedBy labels what Leasewarden made.
const (
	managedByLabel = "app.kubernetes.io/managed-by"
	managedBy      = "leasewarden"
)

// registrar writes Candidates for identities that nobody registered, so that
// all replicas know them. It works outside the requests that tell of them.
type registrar struct {
	client rest.Interface
	clock  clock.WithTicker
	logger logr.Logger
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]

	mu      sync.Mutex
	pending map[types.NamespacedName]pendingWrite
	// written is when each Candidate was last written, or tried to be, by its
	// key.
	written *lru.Cache
}

type pendingWrite struct {
	lease        string
	registration registration
}

func newRegistrar(client rest.Interface, clock clock.WithTicker, logger logr.Logger) *registrar {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](writeEvery, time.Minute)
	return &registrar{
		client: client,
		clock:  clock,
		logger: logger.WithName("registrar"),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "leasewarden-registrar", Clock: clock}),
		pending: map[types.NamespacedName]pendingWrite{},
		written: lru.New(maxPending),
	}
}

// enqueue has the Candidate for a registration written soon, unless it was
// within the time of every. It does not block.
func (r *registrar) enqueue(lease types.NamespacedName, reg registration, every time.Duration) {
	key := types.NamespacedName{Namespace: lease.Namespace, Name: reg.name}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.written.Get(key); ok && r.clock.Since(at.(time.Time)) < every {
		return
	}
	_, waiting := r.pending[key]
	if !waiting && len(r.pending) >= maxPending {
		return
	}
	r.pending[key] = pendingWrite{lease: lease.Name, registration: reg}
	if !waiting { // or else its turn comes, maybe after a failure
		r.queue.Add(key)
	}
}

// run writes until ctx ends.
func (r *registrar) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, r.queue.ShutDown)
	defer stop()
	for {
		key, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		r.process(ctx, key)
		r.queue.Done(key)
	}
}

func (r *registrar) process(ctx context.Context, key types.NamespacedName) {
	w, ok := r.take(key)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := r.write(ctx, key, w)
	switch {
	case err == nil:
		r.queue.Forget(key)
	case r.queue.NumRequeues(key) < maxRetries:
		r.putBack(key, w)
		r.queue.AddRateLimited(key)
	default:
		r.queue.Forget(key)
		r.logger.Info("Candidate was not written; the next attempt of its identity brings it back",
			"candidate", key.String(), "lease", w.lease, "err", err.Error())
	}
}

// take takes the pending write, and notes when that was.
func (r *registrar) take(key types.NamespacedName) (pendingWrite, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.pending[key]
	delete(r.pending, key)
	if ok {
		r.written.Add(key, r.clock.Now())
	}
	return w, ok
}

// putBack keeps a write that failed, unless a newer one waits already.
func (r *registrar) putBack(key types.NamespacedName, w pendingWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, newer := r.pending[key]; !newer {
		r.pending[key] = w
	}
}

// write renews the Candidate, or creates it.
func (r *registrar) write(ctx context.Context, key types.NamespacedName, w pendingWrite) error {
	err := r.renew(ctx, key, w)
	if !apierrors.IsNotFound(err) {
		return err
	}
	return r.client.Post().Namespace(key.Namespace).Resource(candidatesResource).
		Body(w.candidate(key)).Do(ctx).Error()
}

func (r *registrar) renew(ctx context.Context, key types.NamespacedName, w pendingWrite) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"renewTime": metav1.NewMicroTime(w.registration.last)}})
	if err != nil {
		return err
	}
	return r.client.Patch(types.MergePatchType).Namespace(key.Namespace).Resource(candidatesResource).Name(key.Name).
		Body(patch).Do(ctx).Error()
}

// candidate is the object for a registration.
func (w pendingWrite) candidate(key types.NamespacedName) *v1alpha1.Candidate {
	ttl := int32(RegistrationTTL / time.Second)
	renewed := metav1.NewMicroTime(w.registration.last)
	return &v1alpha1.Candidate{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Candidate"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace,
			Name:      key.Name,
			Labels:    map[string]string{managedByLabel: managedBy},
		},
		Spec: v1alpha1.CandidateSpec{
			LeaseName:  w.lease,
			Identity:   w.registration.identity,
			Node:       w.registration.node,
			Origin:     v1alpha1.OriginAttempt,
			RenewTime:  &renewed,
			TTLSeconds: &ttl,
		},
	}
}
