package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/webhook"
)

// Epoch is when every run begins.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// reportAfter is how long the kubelet takes to report that a process ended, and
// Leasewarden to act on it, at least and at most.
const (
	reportAfter  = 500 * time.Millisecond
	reportWithin = 1500 * time.Millisecond
)

// checkEvery is how often Leasewarden looks whether a holder has to make way.
const checkEvery = time.Second

// run is one run of a scenario.
type run struct {
	timeline
	scenario *Scenario
	random   *rand.Rand
	key      types.NamespacedName

	// objects and policy are nil without a policy.
	objects *candidates.Replay
	policy  *candidates.Policy

	lease    *coordinationv1.Lease
	replicas []*replica
	// apiServers are versions by node, of those that run.
	apiServers map[string]picker.Version
	// pods and processes count those that were started, revision is the present
	// one.
	pods, processes, revision int
	rolling                   bool
	// lastMove is when a preemption last began or ended.
	lastMove time.Time

	measured measure
}

// newRun prepares a run. objects is nil without a policy.
func newRun(s *Scenario, seed uint64, objects *candidates.Replay) *run {
	r := &run{
		scenario: s, random: rand.New(rand.NewPCG(seed, 1)), key: s.Key(), objects: objects,
		apiServers: map[string]picker.Version{}, revision: 1,
	}
	r.now = Epoch
	r.measured.run = r
	if objects != nil {
		r.policy = objects.Governing(r.key).Policy
	}
	for _, server := range s.APIServers {
		r.apiServers[server.Node] = picker.ParseVersion(server.Version)
	}
	return r
}

// play plays the run to its end, unless ctx ends before.
func (r *run) play(ctx context.Context) error {
	r.addRevision()
	for i := range r.scenario.Replicas {
		r.addNode(&r.scenario.Replicas[i])
		r.add(r.scenario.Replicas[i])
	}
	for i := range r.scenario.Steps {
		step := &r.scenario.Steps[i]
		r.after(step.At.Duration, func() { r.step(step) })
	}
	if r.policy != nil && r.policy.Compiled.Preempt != "" && r.policy.Compiled.Preempt != v1alpha1.PreemptNever {
		r.after(checkEvery, r.check)
	}
	if err := r.runUntil(ctx, Epoch.Add(r.scenario.Duration.Duration)); err != nil {
		return err
	}
	r.measured.finish()
	return nil
}

func (r *run) add(of Replica) *replica {
	added := &replica{run: r, Replica: of, revision: r.revision}
	r.replicas = append(r.replicas, added)
	added.start()
	return added
}

func (r *run) addNode(of *Replica) {
	if r.objects == nil || of.Node == "" {
		return
	}
	node := &corev1.Node{}
	node.Name = of.Node
	node.Labels = map[string]string{corev1.LabelHostname: of.Node}
	if of.Zone != "" {
		node.Labels[corev1.LabelTopologyZone] = of.Zone
	}
	r.objects.Add(node)
}

// addRevision adds the ReplicaSet of the present revision.
func (r *run) addRevision() {
	if r.objects == nil {
		return
	}
	set := &appsv1.ReplicaSet{}
	owner := r.owner(r.revision)
	set.Namespace, set.Name, set.UID = r.key.Namespace, owner.Name, owner.UID
	set.Annotations = map[string]string{"deployment.kubernetes.io/revision": fmt.Sprint(r.revision)}
	r.objects.Add(set)
}

func (r *run) owner(revision int) metav1.OwnerReference {
	yes := true
	name := fmt.Sprint("revision-", revision)
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID(name), Controller: &yes}
}

func (r *run) podIs(pod *corev1.Pod) {
	if r.objects != nil {
		r.objects.Add(pod)
	}
}

func (r *run) podIsGone(pod *corev1.Pod) {
	if r.objects != nil {
		r.objects.RemovePod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	}
}

// store stores the Lease.
func (r *run) store(lease *coordinationv1.Lease) {
	changed := holderOf(r.lease) != holderOf(lease)
	if changed && lease.Annotations[v1alpha1.StepDownAnnotation] != "" {
		lease = lease.DeepCopy()
		delete(lease.Annotations, v1alpha1.StepDownAnnotation)
		r.lastMove = r.now
	}
	r.lease = lease
	if r.objects != nil {
		r.objects.Observe(lease, r.now)
	}
}

// admits is the webhook: it is asked about attempts, and about the renewals of
// a holder that was told to step down.
func (r *run) admits(e *elector, asked *coordinationv1.Lease) bool {
	if r.objects == nil {
		return true
	}
	operation := admissionv1.Update
	if r.lease == nil {
		operation = admissionv1.Create
	}
	transition := webhook.Classify(operation, r.lease, asked)
	stepping := transition == webhook.Renew && r.lease.Annotations[v1alpha1.StepDownAnnotation] == e.identity
	if !transition.Contests() && !stepping {
		return true
	}
	ballot, err := r.objects.Attempt(candidates.Attempt{Old: r.lease, New: asked, Time: r.now})
	if err != nil {
		return true
	}
	ruling := webhook.Rule(transition, e.identity, ballot, false)
	if ruling.Verdict == webhook.Deny {
		r.measured.Refused++
		return false
	}
	r.measured.criterion = ruling.Criterion
	return true
}

// reportDeath has the kubelet report that a process ended. Then the Lease is
// released on its behalf, if the policy wants that.
func (r *run) reportDeath(e *elector) {
	if r.policy == nil {
		return
	}
	r.after(r.reportDelay(), func() {
		e.replica.report(e)
		if holderOf(r.lease) != e.identity || !*r.policy.Spec.Failover.ReleaseOnTermination {
			return
		}
		nobody := ""
		lease := r.lease.DeepCopy()
		lease.Spec.HolderIdentity = &nobody
		r.store(lease)
	})
}

func (r *run) reportDelay() time.Duration {
	return reportAfter + time.Duration(r.random.Float64()*float64(reportWithin-reportAfter))
}

// check looks whether the holder has to make way, and takes that back if not.
func (r *run) check() {
	r.after(checkEvery, r.check)
	identity := holderOf(r.lease)
	if identity == "" {
		return
	}
	view, err := r.objects.View(r.key, r.lease, r.now)
	if err != nil {
		return
	}
	decision := picker.Decide(view.Policy, &view.State)
	preempts := view.State.Lease.Holder != "" && picker.Preempts(view.Policy, &decision, view.State.Lease.Holder) && !r.holdsOff()
	ordered := r.lease.Annotations[v1alpha1.StepDownAnnotation] == identity
	switch {
	case ordered && !preempts:
		r.order("")
	case !ordered && preempts && r.maySwitch():
		r.order(identity)
		if r.policy.Spec.Preemption.Method == v1alpha1.Evict {
			r.evict(identity)
		}
	}
}

// holdsOff reports whether preemption waits for the end of a rollout.
func (r *run) holdsOff() bool {
	return r.policy.Compiled.Preempt == v1alpha1.PreemptAfterRollout && r.rolling
}

// maySwitch reports whether the term and the last preemption are long enough
// ago.
func (r *run) maySwitch() bool {
	minTerm, cooldown := r.policy.Spec.Preemption.MinTerm.Duration, r.policy.Spec.Preemption.Cooldown.Duration
	return r.now.Sub(r.lease.Spec.AcquireTime.Time) >= minTerm && (r.lastMove.IsZero() || r.now.Sub(r.lastMove) >= cooldown)
}

// order tells the holder to step down, or ("") takes that back.
func (r *run) order(identity string) {
	lease := r.lease.DeepCopy()
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	delete(lease.Annotations, v1alpha1.StepDownAnnotation)
	if identity != "" {
		lease.Annotations[v1alpha1.StepDownAnnotation] = identity
	}
	r.lease, r.lastMove = lease, r.now
}

// evict has the Pod of the holder replaced.
func (r *run) evict(identity string) {
	for _, victim := range r.replicas {
		if victim.process.identity == identity {
			victim.terminate()
			r.after(r.scenario.Timings.Restart.Duration+time.Second, victim.start)
		}
	}
}

// leader is the replica that leads, or nil.
func (r *run) leader() *replica {
	i := slices.IndexFunc(r.replicas, func(x *replica) bool { return x.process.leading })
	if i < 0 {
		return nil
	}
	return r.replicas[i]
}
