package terms

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// policyStatuses is what is known and published of the policies. Only the one
// worker uses it.
type policyStatuses struct {
	policies  map[picker.PolicyRef]*candidates.Policy
	published map[picker.PolicyRef]*policyPublication
}

// policyPublication is the status of a policy as last written or read.
type policyPublication struct {
	uid    types.UID
	status v1alpha1.ElectionPolicyStatus
	slot   slot
}

var (
	// everyPolicy is the key that stands for the policies that have changed.
	everyPolicy = picker.PolicyRef{}
	// everyRegistration is the one that stands for all of them, since it may be
	// that others are registered now.
	everyRegistration = picker.PolicyRef{Kind: "registration"}
)

// enqueueRegistrations has all policies looked at.
func (p *Publisher) enqueueRegistrations() { p.policies.Add(everyRegistration) }

// enqueuePolicies has the policies that were changed looked at.
func (p *Publisher) enqueuePolicies() { p.policies.Add(everyPolicy) }

// enqueueStatuses has the status of some policies looked at, once there is no
// more news for a while.
func (p *Publisher) enqueueStatuses(refs []picker.PolicyRef) {
	for _, ref := range refs {
		p.policies.AddAfter(ref, settling)
	}
}

// publishPolicy publishes the status of one policy, or finds out which ones
// have changed.
func (p *Publisher) publishPolicy(ctx context.Context, ref picker.PolicyRef) (time.Duration, error) {
	switch ref {
	case everyPolicy:
		p.enqueueStatuses(p.statuses.refresh(p.Elections.Policies()))
		return 0, nil
	case everyRegistration:
		p.enqueueStatuses(slices.SortedFunc(maps.Keys(p.statuses.policies), compareRefs))
		return 0, nil
	}
	policy := p.statuses.policies[ref]
	if policy == nil {
		delete(p.statuses.published, ref)
		return 0, nil
	}
	published, err := p.publishedStatus(ctx, policy)
	if err != nil || published == nil {
		return 0, err
	}
	leases, defeats := p.governed.of(ref)
	now := p.Clock.Now()
	unregistered := ""
	if p.Registration != nil {
		unregistered = p.Registration.Problem(policy)
	}
	status := policyStatus(policy, leases, defeats, unregistered, &published.status, now)
	if apiequality.Semantic.DeepEqual(&status, &published.status) {
		return 0, nil
	}
	if wait := published.slot.wait(p.limits, now); wait > 0 {
		return wait, nil
	}
	return 0, p.writePolicy(ctx, policy, published, status)
}

// refresh takes up the policies as they are now, and returns those that were
// changed.
func (s *policyStatuses) refresh(all []*candidates.Policy) []picker.PolicyRef {
	now := make(map[picker.PolicyRef]*candidates.Policy, len(all))
	var changed []picker.PolicyRef
	for _, policy := range all {
		now[policy.Ref] = policy
		if s.policies[policy.Ref] != policy {
			changed = append(changed, policy.Ref)
		}
	}
	for ref := range s.policies {
		if now[ref] == nil {
			changed = append(changed, ref)
		}
	}
	s.policies = now
	slices.SortFunc(changed, compareRefs)
	return changed
}

func compareRefs(a, b picker.PolicyRef) int { return strings.Compare(a.String(), b.String()) }

// publishedStatus is what was published of that very policy: after a restart,
// what the API server has. It is nil if the policy is gone.
func (p *Publisher) publishedStatus(ctx context.Context, policy *candidates.Policy) (*policyPublication, error) {
	known := p.statuses.published[policy.Ref]
	if known != nil && known.uid == policy.UID {
		return known, nil
	}
	uid, status, err := p.readPolicy(ctx, policy.Ref)
	switch {
	case absent(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", policy.Ref, err)
	case uid != policy.UID:
		return nil, fmt.Errorf("reading %s: it was made anew", policy.Ref)
	}
	if p.statuses.published == nil {
		p.statuses.published = map[picker.PolicyRef]*policyPublication{}
	}
	known = &policyPublication{uid: uid, status: status, slot: newSlot()}
	p.statuses.published[policy.Ref] = known
	return known, nil
}

func (p *Publisher) readPolicy(ctx context.Context, ref picker.PolicyRef) (types.UID, v1alpha1.ElectionPolicyStatus, error) {
	if ref.Kind == candidates.KindClusterElectionPolicy {
		var o v1alpha1.ClusterElectionPolicy
		err := p.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, &o)
		return o.UID, o.Status, err
	}
	var o v1alpha1.ElectionPolicy
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &o)
	return o.UID, o.Status, err
}

func (p *Publisher) writePolicy(ctx context.Context, policy *candidates.Policy, published *policyPublication, status v1alpha1.ElectionPolicyStatus) error {
	ref := policy.Ref
	object := newApply(ref.Kind, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	// Another policy that has the name by now must not get this one's status.
	object.SetUID(policy.UID)
	_, err := p.applyStatus(ctx, object, &status)
	switch {
	case err == nil:
		p.outage.ended(p.Log)
		published.status = status
		return nil
	case absent(err):
		delete(p.statuses.published, ref)
		return nil
	}
	p.outage.failed(p.Log, err)
	return fmt.Errorf("status of %s: %w", ref, err)
}
