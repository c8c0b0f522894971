package webhook

import "github.com/leasewarden/leasewarden/picker"

// Keys of the audit annotations on a ruling. The API server puts the name of
// the webhook and a slash before them.
const (
	// AuditDecision is Allow or Deny: what the policy says, in any mode.
	AuditDecision = "decision"
	// AuditReason is a Reason.
	AuditReason = "reason"
	// AuditMode is the mode, which says whether the decision was enforced.
	AuditMode = "mode"
	// AuditTransition is a Transition.
	AuditTransition = "transition"
	// AuditPolicy is the policy, as "Kind namespace/name".
	AuditPolicy = "policy"
	// AuditClaimant is the candidate that asked.
	AuditClaimant = "claimant"
	// AuditChosen is the candidate that the picker chose.
	AuditChosen = "chosen"
	// AuditCriterion is what decided for it.
	AuditCriterion = "criterion"
	// AuditWouldLead is, in dry-run, the candidate that would lead by now if the
	// policy were enforced, where that is not who does: the ruling is as if it
	// had led last, and whether it would still be there is an estimate.
	AuditWouldLead = "would-lead"
)

// audit is the ruling as audit annotations. What is not known has no key.
func audit(r *Ruling) map[string]string {
	all := map[string]string{
		AuditDecision:   string(r.Verdict),
		AuditReason:     string(r.Reason),
		AuditMode:       string(r.Mode),
		AuditTransition: string(r.Transition),
	}
	if r.Policy != (picker.PolicyRef{}) {
		all[AuditPolicy] = r.Policy.String()
	}
	for key, value := range map[string]string{AuditClaimant: r.Claimant, AuditChosen: r.Chosen, AuditCriterion: r.Criterion, AuditWouldLead: r.WouldLead} {
		if value != "" {
			all[key] = value
		}
	}
	return all
}
