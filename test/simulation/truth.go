package simulation

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// truth is what the picker decides if it knows everything at once. It is nil for
// a Lease that is not governed.
func (d *watchdog) truth(c *component, lease *coordinationv1.Lease) (*candidates.View, *picker.Decision) {
	if lease == nil {
		return nil, nil
	}
	set := candidates.NewObjectSet()
	for _, name := range []string{c.name, rivalOf(c)} {
		add(d.w, set, api.ElectionPolicies, namespace, name, &v1alpha1.ElectionPolicy{})
		add(d.w, set, api.ClusterElectionPolicies, "", name, &v1alpha1.ClusterElectionPolicy{})
	}
	key := types.NamespacedName{Namespace: namespace, Name: c.name}
	g := set.Governing(key)
	if g.Policy == nil {
		return nil, nil
	}
	add(d.w, set, api.Elections, namespace, c.name, &v1alpha1.Election{})
	for _, o := range d.w.api.List(api.Candidates) {
		add(d.w, set, api.Candidates, namespace, o.Name, &v1alpha1.Candidate{})
	}
	for _, o := range d.w.api.List(api.Pods) {
		pod := &corev1.Pod{}
		if o.Labels[appLabel] == c.name && d.w.api.Read(api.Pods, namespace, o.Name, pod) {
			set.Add(pod)
		}
	}
	view := candidates.Assemble(set, g, key, lease, time.Now())
	decision := picker.Decide(view.Policy, &view.State)
	return view, &decision
}

// add adds an object to the set, if there is one.
func add[T runtime.Object](w *world, set *candidates.ObjectSet, resource, namespace, name string, into T) {
	if w.api.Read(resource, namespace, name, into) {
		set.Add(into)
	}
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
		wanted := d.w.wanted(c)
		d.mu.Lock()
		if wanted.Switchover != nil && !c.coordinated {
			d.violate(l, "switchover stays", "to %s, without an end", wanted.Switchover.To)
		}
		switch {
		case leader == nil:
			d.violate(l, "no leader", "nobody leads in the end")
		case view == nil || c.coordinated:
			if ours := ownAnnotations(lease); len(ours) > 0 {
				d.violate(l, "touched", "the Lease has the annotations %v, and nobody governs it", ours)
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
