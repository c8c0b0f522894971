package doctor

import (
	"cmp"
	"context"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// nobody is a holder identity and a name that nobody has.
const nobody = "leasewarden-doctor"

// try asks for rulings. All of it are dry runs: admission takes place, and nothing
// is stored. Leasewarden's webhooks have no side effects in a dry run.
func (c *Cluster) try(ctx context.Context, s *snapshot) {
	if s.client() == nil {
		return
	}
	if s.policiesAreSent() {
		s.asked = c.tryPolicy(ctx, cmp.Or(s.namespace, metav1.NamespaceDefault))
	}
	if lease := s.enforced(); lease != nil {
		s.tried = c.tryLease(ctx, lease)
	}
}

// policiesAreSent reports whether the webhook is registered for policies: one that
// others keep need not be.
func (s *snapshot) policiesAreSent() bool {
	validating, _ := s.ours()
	return slices.ContainsFunc(validating.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool {
		return slices.ContainsFunc(w.Rules, func(r admissionregistrationv1.RuleWithOperations) bool {
			return anyOf(r.APIGroups, v1alpha1.GroupVersion.Group, "*") && anyOf(r.Resources, "electionpolicies", "*")
		})
	})
}

// tryPolicy creates a policy whose schema is right and whose expression is wrong.
func (c *Cluster) tryPolicy(ctx context.Context, namespace string) trial {
	policy := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: nobody}}
	policy.Spec.Leases.Names = []string{nobody}
	policy.Spec.Mode = v1alpha1.Disabled
	policy.Spec.Strategy = v1alpha1.Strategy{Name: v1alpha1.Custom, Filters: []v1alpha1.FilterEntry{{CEL: "not CEL"}}}
	err := c.Client.Create(ctx, policy, &client.CreateOptions{DryRun: dryRun})
	return trial{what: "ElectionPolicies in " + namespace, err: err}
}

// tryLease has nobody acquire a Lease.
func (c *Cluster) tryLease(ctx context.Context, name *types.NamespacedName) trial {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"holderIdentity":"`+nobody+`"}}`))
	err := c.Client.Patch(ctx, lease, patch, &client.PatchOptions{DryRun: dryRun})
	return trial{what: "Lease " + name.String(), stamped: lease.Annotations[v1alpha1.ElectedAnnotation] == nobody, err: err}
}

// enforced is a Lease that nobody can acquire without a ruling, nil if there is
// none.
func (s *snapshot) enforced() *types.NamespacedName {
	for i := range s.elections.value.Items {
		e := &s.elections.value.Items[i]
		if e.Status.Mode != v1alpha1.Enforce || e.Spec.Paused || s.exempts(e) {
			continue
		}
		ours := func(l coordinationv1.Lease) bool {
			return l.Namespace == e.Namespace && l.Name == e.Name && l.Spec.Strategy == nil
		}
		if slices.ContainsFunc(s.leases.value.Items, ours) {
			return &types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
		}
	}
	return nil
}

// exempts reports whether the policy of an Election exempts anybody, who might be
// the person that runs this.
func (s *snapshot) exempts(e *v1alpha1.Election) bool {
	for i := range s.policies.value.Items {
		if p := &s.policies.value.Items[i]; p.Namespace == e.Namespace && e.Status.Policy == "ElectionPolicy/"+p.Name {
			return p.Spec.Exempt != nil
		}
	}
	for i := range s.clusterPolicies.value.Items {
		if p := &s.clusterPolicies.value.Items[i]; e.Status.Policy == "ClusterElectionPolicy/"+p.Name {
			return p.Spec.Exempt != nil
		}
	}
	return true
}
