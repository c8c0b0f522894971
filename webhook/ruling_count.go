package webhook

import (
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/picker/plugins"
)

// preventsSkew reports whether the claimant was refused because its version is
// newer than that of the chosen candidate.
func preventsSkew(r *Ruling, policy *picker.Policy, decision *picker.Decision) bool {
	if r.Reason != ReasonNotChosen || decision.ByHand() {
		return false
	}
	switch decision.Decisive(policy, r.Claimant) {
	case plugins.OldestEmulationVersionName, plugins.OldestBinaryVersionName:
		return true
	}
	return false
}

// passedOver counts the candidates that were silent while the claimant, who may
// acquire the Lease now, tried. Whether they would have been chosen is not known.
func passedOver(r *Ruling, decision *picker.Decision) (n int) {
	if r.Verdict != Allow || r.Reason == ReasonExempt || !r.Transition.Contests() {
		return 0
	}
	for i := range decision.Verdicts {
		if decision.Verdicts[i].Filter == picker.FilterPassedOver {
			n++
		}
	}
	return n
}
