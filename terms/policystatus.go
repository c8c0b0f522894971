package terms

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// Reasons of the conditions of a policy.
const (
	reasonInEffect = "InEffect"
	reasonDisabled = "Disabled"
	reasonInvalid  = "Invalid"
	reasonNoRoom   = "NoRoom"
	// reasonNotRegistered: the API server does not ask us about its Leases.
	reasonNotRegistered = "NotRegistered"
	reasonOverruled     = "Overruled"
	reasonUnopposed     = "Unopposed"
)

// policyStatus says what we make of a policy that governs so many Leases, and
// selects some in vain. unregistered is why the API server does not ask us about
// them. It depends on its arguments alone.
func policyStatus(p *candidates.Policy, leases int, defeats []defeat, unregistered string, previous *v1alpha1.ElectionPolicyStatus, now time.Time) v1alpha1.ElectionPolicyStatus {
	status := v1alpha1.ElectionPolicyStatus{
		ObservedGeneration: p.Generation,
		Leases:             int32(leases),
		Conditions:         []metav1.Condition{policyReady(p, unregistered), policyOverruled(defeats)},
	}
	for i := range status.Conditions {
		status.Conditions[i].ObservedGeneration = p.Generation
		settle(&status.Conditions[i], previous.Conditions, now)
	}
	return status
}

func policyReady(p *candidates.Policy, unregistered string) metav1.Condition {
	switch {
	case len(p.Errors) > 0:
		return condition(v1alpha1.ConditionReady, false, reasonInvalid, "the policy governs nothing: "+p.Errors.ToAggregate().Error())
	case p.Excess != "":
		return condition(v1alpha1.ConditionReady, false, reasonNoRoom, "the policy governs nothing: "+p.Excess)
	case p.Spec.Mode == v1alpha1.Disabled:
		return condition(v1alpha1.ConditionReady, true, reasonDisabled, "the policy is disabled and governs nothing")
	case unregistered != "":
		return condition(v1alpha1.ConditionReady, false, reasonNotRegistered, "the policy is not in effect: "+unregistered)
	}
	return condition(v1alpha1.ConditionReady, true, reasonInEffect, "the policy is in effect")
}

func policyOverruled(defeats []defeat) metav1.Condition {
	if len(defeats) == 0 {
		return condition(v1alpha1.ConditionPolicyConflict, false, reasonUnopposed, "every Lease that the policy selects is governed by it")
	}
	lost := make([]string, len(defeats))
	for i, d := range defeats {
		lost[i] = fmt.Sprintf("%s is governed by %s", d.lease, d.winner)
	}
	return condition(v1alpha1.ConditionPolicyConflict, true, reasonOverruled, "lease "+list(lost))
}
