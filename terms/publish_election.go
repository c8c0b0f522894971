package terms

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

const (
	// Retention is how long the Election of a deleted Lease is kept: its terms
	// are what remains of the Lease, and it often comes back at once.
	Retention = 10 * time.Minute
	// recheckEvery bounds how late a change is noticed that comes by time alone,
	// such as a registration that expires, or that no event told of.
	recheckEvery = 5 * time.Minute
	// recheckSoon is the same for a vacant Lease that somebody asks for, where
	// each moment may be the one in which candidates are passed over, and for
	// one whose candidates are not known yet.
	recheckSoon = time.Second
)

// publication is what we published of one Lease. Only the worker that has the
// key uses it, but for due.
type publication struct {
	// due says that something was changed since the last look.
	due atomic.Bool
	// recheck is when to look again if nothing is changed.
	recheck time.Time
	slot    slot
	// status is the Election's as last written or read, uid and version are its
	// own. Nil: there is none.
	status  *v1alpha1.ElectionStatus
	uid     types.UID
	version string
	// listed says that the cache has had it.
	listed bool
	// foreign says that somebody else made it.
	foreign bool
	wanted  wanted
	acts    acts
	tally   tally

	priorities priorities
	told       map[candidates.Problem]bool
}

// publications are by Lease. The zero value is ready, and safe for concurrent
// use.
type publications struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*publication
}

func (p *publications) get(key types.NamespacedName) *publication {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.all[key]; known != nil {
		return known
	}
	if p.all == nil {
		p.all = map[types.NamespacedName]*publication{}
	}
	fresh := &publication{slot: newSlot()}
	fresh.due.Store(true)
	p.all[key] = fresh
	return fresh
}

func (p *publications) mark(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.all[key]; known != nil {
		known.due.Store(true)
	}
}

func (p *publications) drop(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, key)
}

// take takes up the Election that the cache has (nil: none), unless we have
// written a newer one.
func (p *publication) take(cached *v1alpha1.Election) {
	if cached == nil {
		if p.listed {
			p.gone()
		}
		return
	}
	p.listed = true
	p.wanted.take(cached)
	if p.status != nil && p.uid == cached.UID && !newer(cached.ResourceVersion, p.version) {
		return
	}
	p.uid, p.version, p.status = cached.UID, cached.ResourceVersion, &cached.Status
	p.foreign = !ours(cached)
}

// gone takes up that there is no Election.
func (p *publication) gone() {
	p.status, p.listed, p.foreign, p.wanted = nil, false, false, wanted{}
}

// ours reports whether we made the Election.
func ours(e *v1alpha1.Election) bool {
	for key, value := range managedBy {
		if e.Labels[key] != value {
			return false
		}
	}
	return true
}

// newer reports whether version a came after b.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// terms are those that the published status has.
func (p *publication) terms() []v1alpha1.Term {
	if p.status == nil {
		return nil
	}
	return p.status.Terms
}

// publish looks at one Lease and publishes what is new. It returns after what
// time to look again.
func (p *Publisher) publish(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	pub, now := p.published.get(key), p.Clock.Now()
	pub.take(p.Elections.Election(key))
	a, expired := p.leases.look(key, pub.terms)
	if !pub.due.Swap(false) && !expired && now.Before(pub.recheck) {
		return until(now, pub.recheck, a.deadline), nil
	}
	again, err := p.decide(ctx, key, pub, &a, now)
	if err != nil {
		pub.due.Store(true)
	}
	return again, err
}

// decide asks the picker, and publishes its answer if it is news.
func (p *Publisher) decide(ctx context.Context, key types.NamespacedName, pub *publication, a *account, now time.Time) (time.Duration, error) {
	view, err := p.Elections.View(key, a.lease, now)
	switch {
	case errors.Is(err, candidates.ErrNotGoverned):
		if err := p.clean(ctx, key, a.lease); err != nil {
			return 0, err
		}
		return 0, p.retire(ctx, key, pub)
	case a.lease == nil && forgotten(a.terms, now):
		return 0, p.retire(ctx, key, pub)
	case errors.Is(err, candidates.ErrNotSynced):
		pub.due.Store(true)
		return recheckSoon, nil
	case err != nil:
		return 0, err
	}
	p.share(key, view, a)
	pub.tally.begin(pub.status, a.terms)
	p.Metrics.changed(key, &pub.tally, a.terms)
	decision := picker.Decide(view.Policy, &view.State)
	acted := p.act(ctx, key, pub, view, &decision, a, now)
	again, err := p.say(ctx, key, pub, view, &decision, a, &acted, now)
	p.record(key, pub, acted.found)
	return again, errors.Join(acted.err, err)
}

// say publishes what the picker decided and what was done about the term, if it
// is news. It returns after what time to look again.
func (p *Publisher) say(ctx context.Context, key types.NamespacedName, pub *publication, view *candidates.View, decision *picker.Decision, a *account, acted *outcome, now time.Time) (time.Duration, error) {
	status := p.statusOf(key, view, decision, pub, a, acted, now)
	if pub.status == nil || !apiequality.Semantic.DeepEqual(status, pub.status) {
		if wait := pub.slot.wait(p.limits, now); wait > 0 && !pub.answers(status) {
			pub.due.Store(true)
			return until(now, now.Add(wait), acted.again), nil
		}
		if err := p.write(ctx, key, pub, status); err != nil {
			return 0, err
		}
	}
	if err := p.clearSwitchover(ctx, key, pub); err != nil {
		return 0, err
	}
	p.tell(key, pub, view)
	pub.recheck = now.Add(recheckEvery)
	if !view.State.Lease.ContestedSince.IsZero() {
		pub.recheck = now.Add(recheckSoon)
	}
	for _, end := range []time.Time{pub.priorities.next(), due(status.Switchover), retries(status.Pin), recheckDryRun(status, now), acted.again} {
		if !end.IsZero() && end.Before(pub.recheck) {
			pub.recheck = end
		}
	}
	return until(now, pub.recheck, a.deadline), nil
}

func (p *Publisher) statusOf(key types.NamespacedName, view *candidates.View, decision *picker.Decision, pub *publication, a *account, acted *outcome, now time.Time) *v1alpha1.ElectionStatus {
	previous := pub.status
	if previous == nil {
		previous = &v1alpha1.ElectionStatus{}
	}
	s := &sighting{
		view: view, decision: decision, dryRun: p.DryRun,
		lease: a.lease, terms: a.terms, born: a.born, wanted: pub.wanted, stepping: acted.stepping, would: acted.would, previous: previous, now: now,
	}
	if t := s.describe(a.fresh); t != nil {
		s.terms = p.leases.describe(key, t)
	}
	status := s.status()
	if a.lease == nil {
		p.Metrics.gone(key)
	} else {
		p.Metrics.stands(key, &status, s.eligible(), len(decision.Verdicts))
	}
	return &status
}

// share notes which policies select the Lease, for their status.
func (p *Publisher) share(key types.NamespacedName, view *candidates.View, a *account) {
	touched := p.governed.remove
	if a.lease != nil {
		touched = func(key types.NamespacedName) []picker.PolicyRef {
			return p.governed.set(key, view.Policy.PolicyRef, view.Overruled)
		}
	}
	p.enqueueStatuses(touched(key))
}

// retire removes the Election of a Lease that is not governed, or that is gone
// for long, unless somebody else made it or wants something of the Lease. Then
// only what we say of it is taken away.
func (p *Publisher) retire(ctx context.Context, key types.NamespacedName, pub *publication) error {
	switch {
	case pub.status == nil:
	case pub.foreign || !pub.wanted.isEmpty():
		if err := p.blank(ctx, key, pub); err != nil {
			return err
		}
	default:
		if err := p.remove(ctx, key, pub.uid); err != nil {
			return err
		}
	}
	p.Metrics.forget(key)
	p.leases.forget(key)
	p.published.drop(key)
	p.enqueueStatuses(p.governed.remove(key))
	return nil
}

// tell tells of what is not in the status.
func (p *Publisher) tell(key types.NamespacedName, pub *publication, view *candidates.View) {
	var ended, ignored []finding
	pub.priorities, ended = pub.priorities.update(view)
	pub.told, ignored = ignoredValues(pub.told, view)
	p.record(key, pub, append(ended, ignored...))
}

// record writes Events about the Election, and about the Pod concerned.
func (p *Publisher) record(key types.NamespacedName, pub *publication, found []finding) {
	election := &corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Election",
		Namespace: key.Namespace, Name: key.Name, UID: pub.uid,
	}
	for _, f := range found {
		note := candidates.Clip(candidates.Escape(f.note), maxMessageBytes)
		if f.pod == nil {
			p.Recorder.Eventf(election, candidateRef(key.Namespace, f.candidate, pub.status), f.kind, f.reason, f.action, "%s", note)
			continue
		}
		pod := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: f.pod.Namespace, Name: f.pod.Name, UID: f.pod.UID}
		p.Recorder.Eventf(election, pod, f.kind, f.reason, f.action, "%s", note)
		p.Recorder.Eventf(pod, election, f.kind, f.reason, f.action, "%s", note)
	}
}

// forgotten reports whether a Lease that does not exist is gone for so long
// that nobody asks for its terms any more.
func forgotten(terms []v1alpha1.Term, now time.Time) bool {
	return len(terms) == 0 || now.Sub(lastMoment(&terms[0])) >= Retention
}

// until is how long it is from now to the first of the times that are not zero,
// and not 0.
func until(now time.Time, times ...time.Time) time.Duration {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return max(first.Sub(now), time.Millisecond)
}
