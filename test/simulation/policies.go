package simulation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

func (w *world) editPolicy(ev *event, c *component, lasts time.Duration) {
	if c.policy.Load() == nil {
		return
	}
	w.watchdog.disturb(lateAfter)
	if ev.what == evPolicyDelete {
		w.trace.add("%s of %s for %s", ev.what, c.name, lasts)
		policy := c.policy.Load()
		w.applyPolicy(c, nil)
		w.after(ev, lasts, func() {
			w.trace.add("policy of %s is back", c.name)
			w.watchdog.disturb(lateAfter)
			w.applyPolicy(c, policy)
		})
		return
	}
	spec := drawPolicy(api.Draw(w.seed, "policy", ev.n), c)
	w.trace.add("%s of %s: %s, preempt %s", ev.what, c.name, spec.Strategy.Name, spec.Preemption.When)
	w.applyPolicy(c, spec)
}

func rivalOf(c *component) string { return c.name + "-rival" }

// addRival has a second policy select the component's Lease for a while. It
// loses, unless the first one is deleted meanwhile and comes back later.
func (w *world) addRival(ev *event, c *component, lasts time.Duration) {
	if w.options.Without || c.policy.Load() == nil {
		return
	}
	r := api.Draw(w.seed, "rival", ev.n)
	spec := drawPolicy(r, c)
	spec.AcquireDeadline = nil
	if w.options.DryRun {
		spec.Mode = v1alpha1.DryRun
	}
	name := rivalOf(c)
	resource, in := api.ElectionPolicies, namespace
	if r.IntN(2) == 0 {
		resource, in = api.ClusterElectionPolicies, ""
	}
	w.trace.add("%s of %s: %s", ev.what, c.name, spec.Strategy.Name)
	w.watchdog.disturb(lateAfter)
	meta := metav1.ObjectMeta{Namespace: in, Name: name}
	if in == "" {
		w.api.Put(resource, &v1alpha1.ClusterElectionPolicy{ObjectMeta: meta, Spec: v1alpha1.ClusterElectionPolicySpec{ElectionPolicySpec: *spec}})
	} else {
		w.api.Put(resource, &v1alpha1.ElectionPolicy{ObjectMeta: meta, Spec: *spec})
	}
	w.after(ev, lasts, func() {
		w.trace.add("%s is gone", name)
		w.watchdog.disturb(lateAfter)
		w.api.Remove(resource, in, name)
	})
}
