package simulation

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// elections is the Cache of a replica, with what the webhook last learned of it.
type elections struct {
	*candidates.Cache
	plant    Plant
	watchdog *watchdog

	mu   sync.Mutex
	last *ballot
	seen map[types.NamespacedName]sighting
}

// sighting is since when this replica knows a record of a Lease.
type sighting struct {
	lease *coordinationv1.Lease
	since time.Time
}

// ballot is an attempt and what it came down to.
type ballot struct {
	*candidates.Ballot
	attempt candidates.Attempt
	seen    sighting
}

// Observe implements terms.Elections.
func (e *elections) Observe(lease *coordinationv1.Lease, now time.Time) {
	e.see(lease)
	e.Cache.Observe(lease, now)
}

// see notes since when a record is known.
func (e *elections) see(lease *coordinationv1.Lease) {
	if lease == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}
	was := e.seen[key]
	switch {
	case was.lease == nil || !apiequality.Semantic.DeepEqual(was.lease.Spec, lease.Spec) && newer(lease, was.lease):
		e.seen[key] = sighting{lease, time.Now()}
	}
}

func newer(a, b *coordinationv1.Lease) bool {
	return len(a.ResourceVersion) > len(b.ResourceVersion) || len(a.ResourceVersion) == len(b.ResourceVersion) && a.ResourceVersion > b.ResourceVersion
}

// Attempt implements webhook.Elections.
func (e *elections) Attempt(a candidates.Attempt) (*candidates.Ballot, error) {
	if !a.SideEffectFree {
		e.see(a.Old)
	}
	b, err := e.Cache.Attempt(a)
	if err != nil {
		return nil, err
	}
	e.plant.ballot(b, &a)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = &ballot{b, a, e.seen[types.NamespacedName{Namespace: a.New.Namespace, Name: a.New.Name}]}
	return b, nil
}

func (e *elections) take() *ballot {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.last
	e.last = nil
	return b
}

// checked is a handler whose answers are checked.
type checked struct {
	http.Handler
	watchdog  *watchdog
	elections *elections
}

func (c *checked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.elections.take()
	recorder := httptest.NewRecorder()
	c.Handler.ServeHTTP(recorder, r)
	if b := c.elections.take(); b != nil && recorder.Code == http.StatusOK {
		c.watchdog.ruled(b, !bytes.Contains(recorder.Body.Bytes(), []byte(`"allowed":false`)))
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes())
}

// ruled checks that a ruling follows from the ballot, and what it says of the
// term from what really happened.
func (d *watchdog) ruled(b *ballot, allowed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.leases[b.attempt.New.Name]
	decision := picker.Decide(b.Policy, &b.State)
	who := b.Claimant.Candidate
	renews := b.attempt.Old != nil && api.Holder(b.attempt.Old) == api.Holder(b.attempt.New)
	running := b.TermEnds.After(b.State.Now)
	switch {
	case allowed && (b.Policy.Mode != v1alpha1.Enforce || renews):
	case allowed:
		if who == "" || running && b.TermHolder != api.Holder(b.attempt.New) || !decision.Allows(who) {
			d.violate(l, "unexplained", "%s was allowed; chosen is %v", api.Holder(b.attempt.New), name(decision.Chosen))
		}
	case b.Policy.Mode != v1alpha1.Enforce:
		d.violate(l, "unexplained", "a write was denied in mode %s", b.Policy.Mode)
	case renews:
		if order(b.attempt.Old) != api.Holder(b.attempt.New) || !picker.Preempts(b.Policy, &decision, who) {
			d.violate(l, "unexplained", "a renewal by %s was denied", who)
		}
	case who == "":
	case running:
		if end := b.seen.since.Add(leaseDuration(b.attempt.Old)); b.attempt.Old != nil && time.Now().After(end) {
			d.violate(l, "unexplained", "%s was denied for a term that has run out at %s", who, end)
		}
	case decision.Allows(who):
		d.violate(l, "unexplained", "%s was denied, although the picker allows it", who)
	}
}

func name(c *picker.Candidate) string {
	if c == nil {
		return "nobody"
	}
	return c.Name
}

// truth is what the picker decides if it knows everything at once. It is nil for
// a Lease that is not governed.
func (d *watchdog) truth(c *component, lease *coordinationv1.Lease) (*candidates.View, *picker.Decision) {
	if c.policy == nil || lease == nil {
		return nil, nil
	}
	set := candidates.NewObjectSet()
	policy := &v1alpha1.ElectionPolicy{}
	if !d.w.api.Read(api.ElectionPolicies, namespace, c.name, policy) {
		return nil, nil
	}
	set.Add(policy)
	for _, o := range d.w.api.List(api.Pods) {
		pod := &corev1.Pod{}
		if o.Labels[appLabel] == c.name && d.w.api.Read(api.Pods, namespace, o.Name, pod) {
			set.Add(pod)
		}
	}
	key := types.NamespacedName{Namespace: namespace, Name: c.name}
	g := set.Governing(key)
	if g.Policy == nil {
		return nil, nil
	}
	view := candidates.Assemble(set, g, key, lease, time.Now())
	decision := picker.Decide(view.Policy, &view.State)
	return view, &decision
}

// groundsFor is how long an order may stay whose reason is gone, while nothing
// goes wrong.
const groundsFor = 20 * time.Second

// groundless checks that no order to step down outlives its reason. The lock is
// held, and given up meanwhile.
func (d *watchdog) groundless(l *leaseWatch) {
	now := time.Now()
	if order(l.lease) == "" || now.Before(d.disturbed) {
		l.groundless = time.Time{}
		return
	}
	lease := l.lease
	d.mu.Unlock()
	view, decision := d.truth(l.component, lease)
	d.mu.Lock()
	to := order(lease)
	grounds := view != nil && to == api.Holder(lease) && picker.Preempts(view.Policy, decision, view.Identify(to, nil).Candidate)
	switch {
	case grounds:
		l.groundless = time.Time{}
	case l.groundless.IsZero():
		l.groundless = now
	case now.Sub(l.groundless) > groundsFor:
		d.violate(l, "groundless order", "%s has to step down, for %s without a reason", to, now.Sub(l.groundless))
	}
}

// final checks what must hold after a long time in which nothing went wrong.
func (d *watchdog) final() {
	for _, c := range d.w.components {
		leader := d.w.leader(c)
		d.mu.Lock()
		l := d.leases[c.name]
		lease := l.lease
		d.mu.Unlock()
		view, decision := d.truth(c, lease)
		d.mu.Lock()
		switch {
		case leader == nil:
			d.violate(l, "no leader", "nobody leads in the end")
		case view == nil:
			if lease != nil && d.governedNever(c) && len(lease.Annotations) > 0 {
				d.violate(l, "touched", "the Lease has the annotations %v, and no policy", lease.Annotations)
			}
		case d.w.options.DryRun || d.w.options.Without:
		case picker.Preempts(view.Policy, decision, leader.name):
			d.violate(l, "not the best", "%s leads in the end, and %s is better by %s", leader.name, name(decision.Chosen), decision.Criterion)
		case order(lease) != "":
			d.violate(l, "order stays", "%s still has to step down in the end", order(lease))
		}
		d.mu.Unlock()
	}
}

// governedNever reports whether no policy ever governed the component's Lease.
func (d *watchdog) governedNever(c *component) bool { return c.policy == nil }
