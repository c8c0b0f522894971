package simulation

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// world is a cluster.
type world struct {
	*scenario
	ctx       context.Context
	options   Options
	trace     *trace
	api       *api.Server
	frontends []*api.Frontend
	replicas  []*replica
	watchdog  *watchdog

	mu     sync.Mutex
	pods   map[*component][]*pod
	counts map[string]uint64
	revisions
	// doomed is that a replica was told to die at a write, died that it has.
	doomed, died bool
	// upgrading ends with the last upgrade.
	upgrading sync.WaitGroup
}

func (w *world) counted(name string) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[name]++
	return w.counts[name]
}

// skew is how far the clock of a node is off. Nodes that are far off are rare,
// and those in the past as frequent as those in the future.
func (w *world) skew(node string) (offset time.Duration, drift float64) {
	r := api.Draw(w.seed, "skew "+node, 0)
	offset = api.Skewed(r, 0, 2*time.Hour)
	if r.IntN(2) == 0 {
		offset = -offset
	}
	return offset, (r.Float64() - 0.5) * 0.02
}

func newWorld(ctx context.Context, s *scenario, o Options) *world {
	w := &world{
		scenario: s, ctx: ctx, options: o, trace: &trace{start: time.Now()}, api: api.NewServer(s.seed),
		pods: map[*component][]*pod{}, counts: map[string]uint64{}, revisions: revisions{},
	}
	w.watchdog = newWatchdog(w)
	w.api.Committed = w.watchdog.committed
	for range s.frontends {
		w.frontends = append(w.frontends, w.api.NewFrontend())
	}
	for _, name := range []string{namespace, ownNamespace} {
		w.api.Put(api.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}})
	}
	for i := range 3 {
		w.api.Put(api.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}})
	}
	return w
}

// begin starts everything, in an order that the seed decides.
func (w *world) begin() {
	for _, c := range w.components {
		w.applyPolicy(c, c.policy.Load())
		if c.coordinated {
			go newCoordinator(w, c).run()
		}
		for slot := range c.candidates {
			go func() {
				time.Sleep(api.Skewed(api.Draw(w.seed, "begin "+c.name, uint64(slot)), 0, 20*time.Second))
				w.startPod(c, slot)
			}()
		}
	}
	if !w.options.Without {
		for i := range 2 {
			r := newReplica(w, i)
			w.replicas = append(w.replicas, r)
			go r.live(api.Between(api.Draw(w.seed, "begin replica", uint64(i)), 0, 10*time.Second))
		}
	}
}

// applyPolicy has the component's Lease governed, or not any more.
func (w *world) applyPolicy(c *component, spec *v1alpha1.ElectionPolicySpec) {
	c.policy.Store(spec)
	if w.options.Without {
		return
	}
	if spec == nil {
		w.api.Remove(api.ElectionPolicies, namespace, c.name)
		return
	}
	spec = spec.DeepCopy()
	if w.options.DryRun {
		spec.Mode = v1alpha1.DryRun
	}
	p := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.name}, Spec: *spec}
	if compiled := candidates.CompilePolicy(p); len(compiled.Errors) > 0 {
		panic(compiled.Errors.ToAggregate())
	}
	w.api.Put(api.ElectionPolicies, p)
}

func (w *world) add(p *pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[p.component] = append(w.pods[p.component], p)
	w.trace.add("%s starts on %s, version %s", p.name, p.node, p.version)
}

// remove takes up that a Pod has ended, and has it replaced.
func (w *world) remove(p *pod) {
	w.api.Remove(api.Pods, namespace, p.name)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[p.component] = slices.DeleteFunc(w.pods[p.component], func(o *pod) bool { return o == p })
	w.trace.add("%s has ended", p.name)
	if w.ctx.Err() == nil {
		go func() {
			time.Sleep(api.Skewed(p.draw(), 100*time.Millisecond, 3*time.Second))
			w.startPod(p.component, p.slot)
		}()
	}
}

// podsOf are the Pods of a component, the oldest first.
func (w *world) podsOf(c *component) []*pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pods[c])
}

// leader is the Pod of the process that believes that it leads, or nil.
func (w *world) leader(c *component) *pod {
	for _, p := range w.podsOf(c) {
		if e := p.current(); e != nil && e.believes(time.Now()) {
			return p
		}
	}
	return nil
}

// play has everything happen that the seed decided, and then nothing more.
func (w *world) play() {
	w.begin()
	events := slices.Clone(w.events)
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
	for i := range events {
		time.Sleep(time.Until(w.trace.start.Add(events[i].at)))
		w.happen(&events[i])
	}
	time.Sleep(time.Until(w.trace.start.Add(w.chaos)))
	w.becalm()
	w.upgrading.Wait()
	time.Sleep(w.quiet)
	w.watchdog.final()
}

// becalm ends all that goes wrong.
func (w *world) becalm() {
	w.trace.add("all is calm from now on")
	w.watchdog.disturb(lateAfter)
	for _, f := range w.frontends {
		f.SetDown(false)
	}
	for _, c := range w.components {
		for _, p := range w.podsOf(c) {
			p.find()
			p.resume()
		}
	}
	for _, r := range w.replicas {
		r.calm()
	}
}
