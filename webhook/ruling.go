package webhook

import (
	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// Verdict is what the policy says of a write, whether or not it is enforced.
type Verdict string

const (
	Allow Verdict = "Allow"
	Deny  Verdict = "Deny"
)

// Reason is why, as one word for metrics and audit annotations.
type Reason string

const (
	// ReasonChosen allows the candidate that the picker chose.
	ReasonChosen Reason = "Chosen"
	// ReasonAnyEligible allows any eligible candidate, as under FirstCome.
	ReasonAnyEligible Reason = "AnyEligible"
	// ReasonExempt allows a user whom the policy exempts.
	ReasonExempt Reason = "Exempt"
	// ReasonNotChosen denies an eligible candidate: another one was chosen.
	ReasonNotChosen Reason = "NotChosen"
	// ReasonNotEligible denies a candidate that a filter removed.
	ReasonNotEligible Reason = "NotEligible"
	// ReasonNotRegistered denies an identity that is no candidate, or claims to
	// be another one than its token proves.
	ReasonNotRegistered Reason = "NotRegistered"
	// ReasonTermRunning denies a takeover before the holder's term can have run
	// out, whoever asks.
	ReasonTermRunning Reason = "TermRunning"
	// ReasonSteppedDown denies the renewal of a holder that was told to step down.
	ReasonSteppedDown Reason = "SteppedDown"
	// ReasonNoReplacement allows it: nobody is there whom it would make way for,
	// or nobody asks for it any more.
	ReasonNoReplacement Reason = "NoReplacement"
	// ReasonProtectedAnnotation denies a change to an annotation of ours.
	ReasonProtectedAnnotation Reason = "ProtectedAnnotation"
	// ReasonProtectedStrategy denies a write that leaves the election to others
	// (spec.strategy), other than the API server's own.
	ReasonProtectedStrategy Reason = "ProtectedStrategy"
)

// Ruling is the answer to one write.
type Ruling struct {
	Transition Transition
	Verdict    Verdict
	Reason     Reason
	// Message is one sentence for whoever was denied. Empty if allowed.
	Message string
	// Mode is the mode that the ruling was made under. Only Enforce denies.
	Mode v1alpha1.Mode
	// Policy and Strategy are those of the governing policy.
	Policy   picker.PolicyRef
	Strategy v1alpha1.StrategyName
	// Claimant and Chosen are names of candidates, empty if there is none.
	Claimant, Chosen string
	// Criterion is what decided for Chosen.
	Criterion string
	// WouldLead is, in dry-run, who would lead by now if the policy were enforced.
	// Empty: who does, or nobody.
	WouldLead string
	// Warns says that whoever would be denied is to be warned.
	Warns bool
	// PreventsSkew says that a candidate was refused for its version: one of an
	// older version was chosen.
	PreventsSkew bool
	// PassedOver is how many silent candidates the claimant was allowed not to
	// wait for any longer.
	PassedOver int
}

// Admits reports whether the write goes through.
func (r *Ruling) Admits() bool { return r.Verdict == Allow || r.Mode != v1alpha1.Enforce }

// Rule rules on an attempt of a holder identity to acquire or take over a Lease,
// or to renew it after it was told to step down. It depends on its arguments
// only. dryRun makes the mode DryRun, whatever the policy says.
func Rule(t Transition, identity string, ballot *candidates.Ballot, dryRun bool) Ruling {
	r := newRuling(t, ballot.Policy, ballot.Spec, dryRun)
	state := ballot.State
	if r.Mode == v1alpha1.DryRun && ballot.WouldLead != "" {
		// The others would have made way for that one, and not for who did lead.
		r.WouldLead = ballot.WouldLead
		if state.Lease.Holder == "" {
			state.Lease.LastHolder = ballot.WouldLead
		}
	}
	decision := picker.Decide(ballot.Policy, &state)
	r.Claimant = claimant(&ballot.Claimant, &decision)
	r.Criterion = decision.Criterion
	if decision.Chosen != nil {
		r.Chosen = decision.Chosen.Name
	}
	r.Verdict, r.Reason = judge(&r, identity, ballot, &decision)
	if r.Verdict == Deny {
		r.Message = refusal(&r, identity, ballot, &decision)
	}
	if r.Mode == v1alpha1.Enforce {
		r.PreventsSkew = preventsSkew(&r, ballot.Policy, &decision)
		r.PassedOver = passedOver(&r, &decision)
	}
	return r
}

func newRuling(t Transition, policy *picker.Policy, spec *v1alpha1.ElectionPolicySpec, dryRun bool) Ruling {
	r := Ruling{Transition: t, Mode: policy.Mode, Policy: policy.PolicyRef, Strategy: policy.Strategy}
	if dryRun {
		r.Mode = v1alpha1.DryRun
	}
	r.Warns = spec.DryRunWarnings && r.Mode == v1alpha1.DryRun
	return r
}

// claimant is the candidate that asks. Where the identity could be one of
// several (Pods on the network of one node, without a token that tells), it is
// taken for the one that may lead: turning all of them away would leave the
// Lease vacant.
func claimant(who *candidates.Identification, decision *picker.Decision) string {
	if who.Candidate != "" || len(who.Among) == 0 {
		return who.Candidate
	}
	for _, name := range who.Among {
		if decision.Allows(name) {
			return name
		}
	}
	return who.Among[0]
}

func judge(r *Ruling, identity string, ballot *candidates.Ballot, decision *picker.Decision) (Verdict, Reason) {
	switch {
	case ballot.Exempt:
		return Allow, ReasonExempt
	case r.Transition == Renew && picker.Preempts(ballot.Policy, decision, r.Claimant):
		return Deny, ReasonSteppedDown
	case r.Transition == Renew:
		return Allow, ReasonNoReplacement
	case r.Claimant == "":
		return Deny, ReasonNotRegistered
	case termRunning(r.Transition, identity, ballot):
		return Deny, ReasonTermRunning
	case decision.Allows(r.Claimant) && decision.AnyEligible:
		return Allow, ReasonAnyEligible
	case decision.Allows(r.Claimant):
		return Allow, ReasonChosen
	}
	if v := decision.Verdict(r.Claimant); v == nil || !v.Eligible {
		return Deny, ReasonNotEligible
	}
	return Deny, ReasonNotChosen
}

// termRunning is the guard against a second leader: while a term has certainly
// not run out, its holder still counts itself the leader. That holds for a
// candidate that takes over from itself, too: a restarted container has a new
// identity, and its predecessor may still be running. Only the very holder may
// make a Lease anew that was deleted under it.
func termRunning(t Transition, identity string, ballot *candidates.Ballot) bool {
	return ballot.TermEnds.After(ballot.State.Now) && (t == Takeover || identity != ballot.TermHolder)
}
