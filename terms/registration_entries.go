package terms

import (
	"fmt"
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// scope is a set of Namespaces and the Lease names that are governed there.
type scope struct {
	// name starts the names of the entries.
	name       string
	namespaces *metav1.LabelSelector
	// fail refuses acquire attempts while we cannot be asked.
	fail bool
	// conditions are CEL; there is an entry for each.
	conditions []string
}

// scopes compiles the policies into the least number of scopes: one for all
// namespaced policies, and one for each namespaceSelector of a cluster policy,
// for each failure policy. Policies that govern nothing have no part in them.
func scopes(policies []*candidates.Policy, own string) []scope {
	except := exceptions(policies, own)
	var all []scope
	for _, fail := range []bool{false, true} {
		namespaced, cluster := split(failing(policies, fail), own)
		if len(namespaced.names) > 0 {
			all = append(all, namespacedScope(namespaced, fail))
		}
		for i, group := range cluster {
			all = append(all, clusterScope(i, group, except, own, fail))
		}
	}
	return all
}

// failing are the policies that have attempts fail while nobody rules on them,
// or the others.
func failing(policies []*candidates.Policy, fail bool) []*candidates.Policy {
	return slices.DeleteFunc(slices.Clone(policies), func(p *candidates.Policy) bool {
		return fail != p.Fails()
	})
}

// selection is what policies with the same selector of Namespaces select.
type selection struct {
	selector   *metav1.LabelSelector
	namespaces map[string]bool
	names      []string
}

func split(policies []*candidates.Policy, own string) (namespaced selection, cluster []selection) {
	namespaced.namespaces = map[string]bool{}
	groups := map[string]*selection{}
	for _, p := range policies {
		switch {
		case !p.Governs():
		case p.Ref.Kind == candidates.KindClusterElectionPolicy:
			key := candidates.CanonicalSelector(p.NamespaceSelector)
			if groups[key] == nil {
				groups[key] = &selection{selector: p.NamespaceSelector}
			}
			groups[key].names = append(groups[key].names, p.Spec.Leases.Names...)
		case p.Ref.Namespace == own || p.Ref.Namespace == candidates.NodeLeaseNamespace:
		default:
			namespaced.namespaces[p.Ref.Namespace] = true
			for _, name := range p.Spec.Leases.Names {
				namespaced.names = append(namespaced.names, p.Ref.Namespace+"/"+name)
			}
		}
	}
	namespaced.names = sortedSet(namespaced.names)
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		groups[key].names = sortedSet(groups[key].names)
		cluster = append(cluster, *groups[key])
	}
	return namespaced, cluster
}

func sortedSet(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

func namespacedScope(s selection, fail bool) scope {
	return scope{
		name: scopeName("leases", fail), fail: fail,
		namespaces: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: slices.Sorted(maps.Keys(s.namespaces)),
		}}},
		conditions: governedConditions(celNamespacedName, s.names),
	}
}

// maxExceptionBytes bounds what the registration takes to say, for each selector
// of a cluster policy, what namespaced policies govern.
const maxExceptionBytes = 64 << 10

// exceptions is true for what a namespaced policy governs, which the API server
// would else send twice where a policy of the cluster selects it, too. Empty:
// there is nothing, or it would take too much. Being sent a write twice does no
// harm.
func exceptions(policies []*candidates.Policy, own string) string {
	namespaced, cluster := split(policies, own)
	conditions := governedConditions(celNamespacedName, namespaced.names)
	if len(conditions) != 1 {
		return "" // two would make an expression that the API server does not take
	}
	entries := 0
	for _, group := range cluster {
		// Attempts and other writes may have an entry each, for each failure
		// policy.
		entries += 3 * len(governedConditions(celName, group.names))
	}
	if entries*len(conditions[0]) > maxExceptionBytes {
		return ""
	}
	return conditions[0]
}

func clusterScope(i int, s selection, except, own string, fail bool) scope {
	selector := s.selector.DeepCopy()
	if selector == nil {
		selector = &metav1.LabelSelector{}
	}
	never := []string{candidates.NodeLeaseNamespace}
	if own != "" {
		never = append(never, own)
	}
	selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: never,
	})
	conditions := governedConditions(celName, s.names)
	if except != "" {
		for j := range conditions {
			conditions[j] = "(" + conditions[j] + ") && !(" + except + ")"
		}
	}
	return scope{name: numbered(scopeName("cluster-leases", fail), i), fail: fail, namespaces: selector, conditions: conditions}
}

func scopeName(name string, fail bool) string {
	if fail {
		return "fail-" + name
	}
	return name
}

func numbered(name string, i int) string {
	if i == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, i+1)
}

// entry is what the entries of the validating and the mutating configuration
// have in common.
type entry struct {
	name       string
	namespaces *metav1.LabelSelector
	condition  string
	// fail is only ever set for acquire attempts: a holder must not lose its
	// Lease because we are down.
	fail bool
}

// rulings are the entries of the validating configuration.
func rulings(scopes []scope) []entry {
	var all []entry
	for _, s := range scopes {
		if !s.fail {
			all = append(all, s.entries("", ruledCondition)...)
			continue
		}
		for _, e := range s.entries("", contestCondition) {
			e.fail = true
			all = append(all, e)
		}
		all = append(all, s.entries("held-", "!("+contestCondition+") && ("+ruledCondition+")")...)
	}
	return all
}

// contests are the entries of the mutating configuration.
func contests(scopes []scope) []entry {
	var all []entry
	for _, s := range scopes {
		all = append(all, s.entries("", contestCondition)...)
	}
	return all
}

// entries has an entry for each of the scope's conditions.
func (s *scope) entries(prefix, write string) []entry {
	var all []entry
	for i, governed := range s.conditions {
		all = append(all, entry{
			name:       prefix + numbered(s.name, i) + "." + v1alpha1.GroupVersion.Group,
			namespaces: s.namespaces,
			condition:  matchCondition(write, governed),
		})
	}
	return all
}

// leaseTimeoutSeconds bounds how long a write to a Lease waits for us.
const leaseTimeoutSeconds = 1

// policyTimeoutSeconds bounds how long an edit of a policy waits for us.
const policyTimeoutSeconds = 5

func leaseRules() []admissionregistrationv1.RuleWithOperations {
	return rules(admissionregistrationv1.NamespacedScope, coordinationv1.SchemeGroupVersion.Group, coordinationv1.SchemeGroupVersion.Version, "leases")
}

func policyRules() []admissionregistrationv1.RuleWithOperations {
	return rules(admissionregistrationv1.AllScopes, v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version, "electionpolicies", "clusterelectionpolicies")
}

func rules(scope admissionregistrationv1.ScopeType, group, version string, resources ...string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources, Scope: &scope,
		},
	}}
}

// validatingEntry fills in every field that the API server has a default for,
// so that what was written compares equal to what is read.
func validatingEntry(e entry, client admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.ValidatingWebhook {
	failure := admissionregistrationv1.Ignore
	if e.fail {
		failure = admissionregistrationv1.Fail
	}
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    e.name,
		ClientConfig:            client,
		Rules:                   leaseRules(),
		FailurePolicy:           &failure,
		MatchPolicy:             ptr.To(admissionregistrationv1.Equivalent),
		NamespaceSelector:       e.namespaces,
		ObjectSelector:          &metav1.LabelSelector{},
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNoneOnDryRun),
		TimeoutSeconds:          ptr.To[int32](leaseTimeoutSeconds),
		AdmissionReviewVersions: []string{"v1"},
		MatchConditions:         []admissionregistrationv1.MatchCondition{{Name: "ruled", Expression: e.condition}},
	}
}

func mutatingEntry(e entry, client admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name:                    e.name,
		ClientConfig:            client,
		Rules:                   leaseRules(),
		FailurePolicy:           ptr.To(admissionregistrationv1.Ignore),
		MatchPolicy:             ptr.To(admissionregistrationv1.Equivalent),
		NamespaceSelector:       e.namespaces,
		ObjectSelector:          &metav1.LabelSelector{},
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          ptr.To[int32](leaseTimeoutSeconds),
		AdmissionReviewVersions: []string{"v1"},
		ReinvocationPolicy:      ptr.To(admissionregistrationv1.NeverReinvocationPolicy),
		MatchConditions:         []admissionregistrationv1.MatchCondition{{Name: "contested", Expression: e.condition}},
	}
}

// policyEntry has policies checked when they are applied.
func policyEntry(client admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    "policies." + v1alpha1.GroupVersion.Group,
		ClientConfig:            client,
		Rules:                   policyRules(),
		FailurePolicy:           ptr.To(admissionregistrationv1.Ignore),
		MatchPolicy:             ptr.To(admissionregistrationv1.Equivalent),
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{},
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          ptr.To[int32](policyTimeoutSeconds),
		AdmissionReviewVersions: []string{"v1"},
	}
}
