package candidates

import (
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Replay is to a log what a Cache is to a cluster: it is told what happened,
// with the time of it, and says the same of each attempt to acquire a Lease as
// a Cache would have said then. It keeps only Pods that a policy selects, so
// policies come first. It is not safe for concurrent use.
type Replay struct {
	*ObjectSet
	ledger *ledger
}

// NewReplay makes a Replay that begins with the objects of a set.
func NewReplay(objects *ObjectSet) *Replay {
	r := &Replay{ObjectSet: objects, ledger: newLedger()}
	for key, pod := range r.pods {
		r.pods[key] = trimPod(pod)
	}
	return r
}

// Add takes up that an object is there, or how it is now. It reports whether
// any decision can depend on it.
func (r *Replay) Add(o runtime.Object) (used bool) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return r.ObjectSet.Add(o)
	}
	if !r.SelectsPod(pod.Namespace, pod.Labels) {
		delete(r.pods, keyOf(pod))
		return false
	}
	return r.ObjectSet.Add(trimPod(pod))
}

// SelectsPod reports whether some policy makes candidates of Pods like this.
func (r *Replay) SelectsPod(namespace string, set map[string]string) bool {
	for _, p := range r.policies.policies {
		in := p.Ref.Namespace == "" || p.Ref.Namespace == namespace
		if in && p.pods != nil && p.pods.selector.Matches(labels.Set(set)) {
			return true
		}
	}
	return false
}

// Pod is the Pod of that key, trimmed, or nil. It must not be changed.
func (r *Replay) Pod(key types.NamespacedName) *corev1.Pod { return r.pods[key] }

// RemovePod takes up that a Pod is gone.
func (r *Replay) RemovePod(key types.NamespacedName) { delete(r.pods, key) }

// RemoveLeaseCandidate takes up that a LeaseCandidate is gone.
func (r *Replay) RemoveLeaseCandidate(key types.NamespacedName) { delete(r.leaseCandidates, key) }

// RemoveCandidate takes up that a Candidate is gone.
func (r *Replay) RemoveCandidate(key types.NamespacedName) { delete(r.candidates, key) }

// Observe takes up what a Lease says from now on.
func (r *Replay) Observe(lease *coordinationv1.Lease, now time.Time) {
	key := keyOf(lease)
	r.leases[key] = lease
	r.ledger.observe(key, lease, now, true)
}

// Deleted takes up that a Lease was deleted while it looked like this.
func (r *Replay) Deleted(lease *coordinationv1.Lease, now time.Time) {
	delete(r.leases, keyOf(lease))
	r.ledger.deleted(keyOf(lease), lease, now)
}

// View is Cache.View: what is known of a governed Lease, or an error that wraps
// ErrNotGoverned.
func (r *Replay) View(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) (*View, error) {
	g, err := r.governs(key)
	if err != nil {
		return nil, err
	}
	return assemble(r, g, key, lease, r.ledger.observe(key, lease, now, false), now), nil
}

func (r *Replay) governs(key types.NamespacedName) (Governance, error) {
	g := r.Governing(key)
	if g.Policy == nil {
		return g, fmt.Errorf("Lease %s: %w", key, ErrNotGoverned)
	}
	return g, nil
}

// Attempt is Cache.Attempt: it says what an attempt comes down to, and
// remembers it, or returns an error that wraps ErrNotGoverned.
func (r *Replay) Attempt(a Attempt) (*Ballot, error) {
	if a.New == nil {
		return nil, errors.New("candidates: Attempt.New is missing")
	}
	key := types.NamespacedName{Namespace: a.New.Namespace, Name: a.New.Name}
	g, err := r.governs(key)
	if err != nil {
		return nil, err
	}
	return poll{r, r.ledger, r.register, r.ledger.freshIn}.attempt(g, key, &a), nil
}

// register remembers a registration, of which a log may have the object, too.
func (r *Replay) register(key types.NamespacedName, reg registration) {
	_, known := r.candidates[types.NamespacedName{Namespace: key.Namespace, Name: reg.name}]
	r.ledger.register(key, reg, !known)
}

// Vacant is View as it would be if nobody held the Lease, whatever it says, and
// the identity last had been the last to. Nobody has tried yet. lease may be
// nil.
func (r *Replay) Vacant(key types.NamespacedName, lease *coordinationv1.Lease, last string, now time.Time) (*View, error) {
	g, err := r.governs(key)
	if err != nil {
		return nil, err
	}
	past := r.ledger.observe(key, lease, now, false)
	past = memory{lastHolder: last, duration: past.duration, attempts: past.attempts, registrations: past.registrations}
	v := assemble(r, g, key, nil, past, now)
	if lease != nil {
		v.State.Lease.Labels, v.State.Lease.Annotations = lease.Labels, lease.Annotations
	}
	return v, nil
}
