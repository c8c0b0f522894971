package doctor

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// checkAdmissionPolicies names the ValidatingAdmissionPolicies that may refuse a
// write to a Lease.
func checkAdmissionPolicies(s *snapshot) []Finding {
	if s.admissionPolicies.err != nil {
		return unread("ValidatingAdmissionPolicies", s.admissionPolicies.err)
	}
	if s.bindings.err != nil {
		return unread("ValidatingAdmissionPolicyBindings", s.bindings.err)
	}
	var findings []Finding
	for i := range s.admissionPolicies.value.Items {
		p := &s.admissionPolicies.value.Items[i]
		if s.denies(p.Name) && p.Spec.MatchConstraints != nil && interceptsLeases(rulesOf(p.Spec.MatchConstraints)) {
			findings = append(findings, warning("see that it never refuses a renewal, nor the annotations leasewarden.dev/*",
				"ValidatingAdmissionPolicy %s may refuse writes of Leases", p.Name))
		}
	}
	if len(findings) > 0 {
		return findings
	}
	return ok("none may refuse writes of Leases")
}

// denies reports whether the policy is bound so that it refuses anything.
func (s *snapshot) denies(policy string) bool {
	return slices.ContainsFunc(s.bindings.value.Items, func(b admissionregistrationv1.ValidatingAdmissionPolicyBinding) bool {
		return b.Spec.PolicyName == policy && slices.Contains(b.Spec.ValidationActions, admissionregistrationv1.Deny)
	})
}

func rulesOf(m *admissionregistrationv1.MatchResources) []admissionregistrationv1.RuleWithOperations {
	var all []admissionregistrationv1.RuleWithOperations
	for _, r := range m.ResourceRules {
		all = append(all, r.RuleWithOperations)
	}
	return all
}
