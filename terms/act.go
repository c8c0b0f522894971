package terms

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

const (
	// conflictRetry is the wait after a write that was refused because the Lease
	// had changed: the watch brings the change in a moment.
	conflictRetry = 200 * time.Millisecond
	// releasedSeconds is the duration that client-go writes when it releases a
	// Lease (tools/leaderelection, tryRelease).
	releasedSeconds = 1
)

// acts is what was done about the terms of one Lease. Only the worker that has
// the key uses it.
type acts struct {
	// written is the Lease as of our last write, until the watch brings it.
	written *coordinationv1.Lease
	// lastMove is when a preemption last began or ended.
	lastMove time.Time
	trial    trial
	rally    rally
	// evicting is the holder identity that the eviction is of.
	evicting string
	// evictAfter is when that may be tried again, backoff how long after
	// the next one.
	evictAfter time.Time
	backoff    wait.Backoff
}

// outcome is what a Publisher did about a term.
type outcome struct {
	// stepping is the condition SteppingDown.
	stepping metav1.Condition
	// would is what would have been done in another mode.
	would intention
	// again is when to look again. Zero: when something changes.
	again time.Time
	found []finding
	err   error
}

// act does what there is to do about the term of a Lease that is governed. It
// does not depend on the Election, so that it works without.
func (p *Publisher) act(ctx context.Context, key types.NamespacedName, pub *publication, view *candidates.View, decision *picker.Decision, a *account, now time.Time) outcome {
	if a.lease == nil {
		pub.acts = acts{}
		return outcome{stepping: (&situation{}).idle()}
	}
	s := p.situation(key, pub, view, decision, a, now)
	plan := s.plan()
	out := outcome{stepping: plan.condition, again: plan.again, would: s.intention()}
	if out.again.IsZero() {
		out.again = out.would.again // in dry-run nothing else is planned
	}
	if plan.action == "" {
		return out
	}
	if err := p.carryOut(ctx, key, pub, s, &plan, &out); err != nil {
		return p.failed(key, s, &plan, err)
	}
	p.did(key, pub, s, &plan, &out)
	return out
}

// failed is the outcome of an action that was not carried out.
func (p *Publisher) failed(key types.NamespacedName, s *situation, plan *plan, err error) outcome {
	out := outcome{stepping: s.idle()}
	switch {
	case apierrors.IsNotFound(err):
		// The watch is about to tell.
	case apierrors.IsConflict(err):
		out.again = s.now.Add(conflictRetry)
	default:
		p.outage.failed(p.Log, err)
		out.err = fmt.Errorf("%s on lease %s: %w", plan.action, key, err)
	}
	return out
}

// situation gathers what the plan depends on.
func (p *Publisher) situation(key types.NamespacedName, pub *publication, view *candidates.View, decision *picker.Decision, a *account, now time.Time) *situation {
	lease := pub.acts.latest(a.lease)
	identity := holderIdentity(lease)
	if identity != pub.acts.evicting {
		pub.acts.evicting, pub.acts.evictAfter, pub.acts.backoff = identity, time.Time{}, wait.Backoff{}
	}
	s := &situation{
		trial: &pub.acts.trial, rally: &pub.acts.rally, lease: lease, policy: view.Policy, spec: view.Spec, mode: view.Policy.Mode, decision: decision,
		term: currentTerm(a.terms), lastMove: pub.acts.lastMove, evictAfter: pub.acts.evictAfter,
		othersMove: view.State.Lease.HeldByNode != nil && p.leases.moves.others(key, now),
		now:        now,
	}
	if p.DryRun {
		s.mode = v1alpha1.DryRun
	}
	if identity != "" {
		s.holder = holderName(view, decision, identity)
		s.pods = view.HolderPods(identity)
	}
	chosen := ""
	if decision.Chosen != nil {
		chosen, s.replacement = decision.Chosen.Name, view.Identity(decision.Chosen.Name)
	}
	pub.acts.rally.look(identity, s.holder, now)
	if pub.acts.trial.look(identity, s.holder, chosen, now) {
		p.Metrics.failures.WithLabelValues(key.Namespace, key.Name, failureNotTaken).Inc()
	}
	if s.ordered() && !s.outdated() {
		pub.tally.ends(identity, changePreempted) // by the replica before us
	}
	if chosen != "" && s.term != nil {
		pub.acts.trial.choose(identity, chosen, now)
	}
	if pub.status != nil {
		s.stepping = meta.FindStatusCondition(pub.status.Conditions, v1alpha1.ConditionSteppingDown)
	}
	return s
}

// holderName is the candidate that the identity is. Of several that it could be,
// it is the chosen one: it need not make way for itself.
func holderName(view *candidates.View, decision *picker.Decision, identity string) string {
	id := view.Identify(identity, nil)
	if id.Candidate == "" && decision.Chosen != nil && slices.Contains(id.Among, decision.Chosen.Name) {
		return decision.Chosen.Name
	}
	return id.Candidate
}

// latest is the Lease as the watch has it, or as we wrote it if that is newer.
func (a *acts) latest(seen *coordinationv1.Lease) *coordinationv1.Lease {
	if a.written != nil && a.written.UID == seen.UID && newer(a.written.ResourceVersion, seen.ResourceVersion) {
		return a.written
	}
	a.written = nil
	return seen
}

func (p *Publisher) carryOut(ctx context.Context, key types.NamespacedName, pub *publication, s *situation, plan *plan, out *outcome) error {
	if plan.action == ActionEvict {
		return p.evict(ctx, key, pub, s, plan, out)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	patch, err := plan.patch(s.lease, s.now)
	if err != nil {
		return err
	}
	if err := p.Client.Patch(ctx, lease, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager)); err != nil {
		return err
	}
	pub.acts.written = trimLease(lease)
	return nil
}

// patch is the write to the Lease. It fails if the Lease was made anew. An order
// names its addressee, so that it does no harm if somebody else holds the Lease
// by now; a release fails if anything about the Lease was changed.
func (p *plan) patch(lease *coordinationv1.Lease, now time.Time) ([]byte, error) {
	annotations := map[string]any{v1alpha1.StepDownAnnotation: nil}
	metadata := map[string]any{"uid": lease.UID, "annotations": annotations}
	spec := map[string]any{}
	if candidates.CoordinatedByUs(lease) {
		spec["preferredHolder"] = nil
	}
	switch p.action {
	case ActionStepDown:
		annotations[v1alpha1.StepDownAnnotation] = holderIdentity(lease)
		if p.preferred != "" {
			spec["preferredHolder"] = p.preferred
		}
	case ActionRelease:
		metadata["resourceVersion"] = lease.ResourceVersion
		spec["holderIdentity"] = ""
		spec["leaseDurationSeconds"] = releasedSeconds
		spec["acquireTime"], spec["renewTime"] = metav1.NewMicroTime(now), metav1.NewMicroTime(now)
	}
	return json.Marshal(map[string]any{"metadata": metadata, "spec": spec})
}

// did takes up that an action was carried out, and tells of it.
func (p *Publisher) did(key types.NamespacedName, pub *publication, s *situation, plan *plan, out *outcome) {
	p.outage.ended(p.Log)
	f, label := tellOf(plan)
	if label != EventEvictionRefused && (plan.action != ActionRelease || s.ordered()) {
		pub.acts.lastMove = s.now
	}
	begun := pub.acts.trial.from != holderIdentity(s.lease) && !s.ordered()
	switch {
	case plan.action == ActionStepDown, label == string(ActionEvict):
		pub.acts.trial.begin(holderIdentity(s.lease), s.decision.Chosen.Name, s.now)
		if !s.decision.ByHand() && !s.ordered() {
			pub.acts.rally.begin(holderIdentity(s.lease), s.holder)
		}
	case plan.action == ActionTakeBack:
		pub.acts.trial.end()
		pub.acts.rally.end()
	}
	p.Metrics.acted(key, &pub.tally, s, plan, begun)
	p.Log.Info("Acted on a term", "lease", key, "action", label, "note", plan.note)
	if f.reason != "" {
		if len(s.pods) == 1 {
			f.pod = s.pods[0].Pod
		}
		out.found = append(out.found, f)
	}
}
