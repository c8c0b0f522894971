package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/leasewarden/leasewarden/terms"
)

const (
	// longTimeout is a timeout of a webhook in seconds that two attempts to renew
	// do not fit with into client-go's renew deadline of 10 s.
	longTimeout = 5
	leaveOut    = "leave Leases, or these namespaces, out of its rules"
)

// other is somebody else's webhook.
type other struct {
	where    string
	rules    []admissionregistrationv1.RuleWithOperations
	failure  *admissionregistrationv1.FailurePolicyType
	timeout  *int32
	selector *metav1.LabelSelector
	// some says that it is called for some writes only.
	some bool
}

// checkOtherWebhooks names those of others that a write to a Lease which matters
// here has to pass.
func checkOtherWebhooks(s *snapshot) []Finding {
	if s.validating.err != nil {
		return unread("ValidatingWebhookConfigurations", s.validating.err)
	}
	if s.mutating.err != nil {
		return unread("MutatingWebhookConfigurations", s.mutating.err)
	}
	var findings []Finding
	for _, o := range s.others() {
		if !interceptsLeases(o.rules) {
			continue
		}
		if namespaces := s.reached(o.selector); len(namespaces) > 0 {
			findings = append(findings, o.judge(namespaces)...)
		}
	}
	if len(findings) > 0 {
		return findings
	}
	return ok("no other webhook endangers the writes of leaders")
}

func (o *other) judge(namespaces []string) []Finding {
	writes := "writes"
	if o.some {
		writes = "some writes"
	}
	in := strings.Join(namespaces, ", ")
	switch {
	case (o.failure == nil || *o.failure == admissionregistrationv1.Fail) && !o.some:
		return []Finding{problem(leaveOut+", or set its failurePolicy to Ignore", "%s intercepts %s of Leases in %s and has failurePolicy Fail: while it is down, every leader there loses its Lease", o.where, writes, in)}
	case o.failure == nil || *o.failure == admissionregistrationv1.Fail:
		return []Finding{warning(leaveOut+", or set its failurePolicy to Ignore", "%s intercepts %s of Leases in %s and has failurePolicy Fail: while it is down, these are refused", o.where, writes, in)}
	case o.timeout == nil || *o.timeout >= longTimeout:
		return []Finding{warning(leaveOut+", or set its timeoutSeconds to 1", "%s intercepts %s of Leases in %s with a timeout of %d s: if it hangs, leaders lose their Leases", o.where, writes, in, timeoutOf(o.timeout))}
	}
	return nil
}

// timeoutOf is a timeout in seconds with the API's default.
func timeoutOf(t *int32) int32 {
	if t == nil {
		return 10
	}
	return *t
}

func (s *snapshot) others() []other {
	var all []other
	for i := range s.validating.value.Items {
		c := &s.validating.value.Items[i]
		for _, w := range c.Webhooks {
			if c.Name != terms.ConfigurationName {
				all = append(all, other{fmt.Sprintf("ValidatingWebhookConfiguration %s, webhook %s,", c.Name, w.Name), w.Rules, w.FailurePolicy, w.TimeoutSeconds, w.NamespaceSelector,
					selects(w.ObjectSelector) || len(w.MatchConditions) > 0})
			}
		}
	}
	for i := range s.mutating.value.Items {
		c := &s.mutating.value.Items[i]
		for _, w := range c.Webhooks {
			if c.Name != terms.ConfigurationName {
				all = append(all, other{fmt.Sprintf("MutatingWebhookConfiguration %s, webhook %s,", c.Name, w.Name), w.Rules, w.FailurePolicy, w.TimeoutSeconds, w.NamespaceSelector,
					selects(w.ObjectSelector) || len(w.MatchConditions) > 0})
			}
		}
	}
	return all
}

// selects reports whether a selector leaves anything out.
func selects(l *metav1.LabelSelector) bool {
	return l != nil && len(l.MatchLabels)+len(l.MatchExpressions) > 0
}

func interceptsLeases(rules []admissionregistrationv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(r admissionregistrationv1.RuleWithOperations) bool {
		return anyOf(r.APIGroups, coordinationv1.GroupName, "*") && anyOf(r.Resources, "leases", "*", "*/*") &&
			anyOf(r.Operations, admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.OperationAll) &&
			(r.Scope == nil || *r.Scope != admissionregistrationv1.ClusterScope)
	})
}

func anyOf[T comparable](all []T, wanted ...T) bool {
	return slices.ContainsFunc(all, func(v T) bool { return slices.Contains(wanted, v) })
}

// reached are the namespaces that matter here and that a selector selects. One
// whose labels are not known is taken to be selected.
func (s *snapshot) reached(l *metav1.LabelSelector) []string {
	selector, err := metav1.LabelSelectorAsSelector(l)
	if l == nil || err != nil {
		selector = labels.Everything()
	}
	matter := s.governed()
	matter[metav1.NamespaceSystem] = true
	for name := range matter {
		i := slices.IndexFunc(s.namespaces.value.Items, func(n corev1.Namespace) bool { return n.Name == name })
		if i >= 0 && !selector.Matches(labels.Set(s.namespaces.value.Items[i].Labels)) {
			delete(matter, name)
		}
	}
	return slices.Sorted(maps.Keys(matter))
}
