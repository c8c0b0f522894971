package doctor

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// checkPolicies says what Leasewarden says of the policies.
func checkPolicies(s *snapshot) []Finding {
	if s.policies.err != nil {
		return unread("ElectionPolicies", s.policies.err)
	}
	if s.clusterPolicies.err != nil {
		return unread("ClusterElectionPolicies", s.clusterPolicies.err)
	}
	var findings []Finding
	for i := range s.policies.value.Items {
		p := &s.policies.value.Items[i]
		findings = append(findings, checkPolicy("ElectionPolicy "+p.Namespace+"/"+p.Name, p.Generation, &p.Status)...)
	}
	for i := range s.clusterPolicies.value.Items {
		p := &s.clusterPolicies.value.Items[i]
		findings = append(findings, checkPolicy("ClusterElectionPolicy "+p.Name, p.Generation, &p.Status)...)
	}
	if len(findings) > 0 {
		return findings
	}
	return ok("%d, none has anything wrong with it", len(s.policies.value.Items)+len(s.clusterPolicies.value.Items))
}

func checkPolicy(name string, generation int64, status *v1alpha1.ElectionPolicyStatus) []Finding {
	var findings []Finding
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return []Finding{problem("see the check leader", "Leasewarden has not looked at %s", name)}
	case ready.Status != metav1.ConditionTrue:
		findings = append(findings, problem("correct it", "%s is not ready: %s", name, ready.Message))
	case status.ObservedGeneration != generation:
		findings = append(findings, warning("see the check leader", "Leasewarden has not looked at the last change of %s", name))
	}
	if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPolicyConflict); c != nil && c.Status == metav1.ConditionTrue {
		findings = append(findings, warning("have each Lease selected by one policy", "%s: %s", name, c.Message))
	}
	return findings
}
