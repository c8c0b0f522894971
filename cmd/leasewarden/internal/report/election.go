package report

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// Election is the decision on one Lease. Its JSON is read by people's scripts:
// keys may be added, but none may be renamed or removed.
type Election struct {
	// Lease is "namespace/name".
	Lease string `json:"lease"`
	// Policy is "Kind/name". An ElectionPolicy is of the Lease's namespace.
	Policy   string                `json:"policy"`
	Strategy v1alpha1.StrategyName `json:"strategy"`
	Mode     v1alpha1.Mode         `json:"mode"`
	// Holder is who holds the Lease, null if it is vacant.
	Holder *Holder `json:"holder"`
	// Chosen is the candidate that should lead, null if none is eligible or the
	// strategy chooses nobody.
	Chosen *string `json:"chosen"`
	// Identity is the holder identity by which the chosen candidate is known,
	// null if it was not seen yet.
	Identity *string `json:"identity"`
	// AnyEligible says that any eligible candidate may acquire.
	AnyEligible bool `json:"anyEligible"`
	// Criterion is what decided, empty if nothing had to be.
	Criterion string `json:"criterion"`
	// LastResort says that the policy's filters left nobody in time, so that
	// they were passed over.
	LastResort bool `json:"lastResort"`
	// Criteria are the keys of every candidate's scores, in order.
	Criteria []string `json:"criteria"`
	// Candidates are in the order of preference.
	Candidates []Candidate `json:"candidates"`
	// Overruled are the policies that select the Lease, too, and lost.
	Overruled []string `json:"overruled,omitempty"`
}

// Holder is who holds a Lease.
type Holder struct {
	// Name is its name as a candidate, null if it is none.
	Name *string `json:"name"`
	// Identity is the Lease's holderIdentity.
	Identity string `json:"identity"`
	// TermOver says that the candidate's term has run out: the Lease is vacant.
	TermOver bool `json:"termOver"`
}

// Candidate is the verdict on one candidate.
type Candidate struct {
	Name string `json:"name"`
	// Source is the most trusted source that knows it, Sources are all.
	Source  picker.Source   `json:"source"`
	Sources []picker.Source `json:"sources"`
	// Node, Version and EmulationVersion are empty where they are not known.
	Node             string `json:"node"`
	Version          string `json:"version"`
	EmulationVersion string `json:"emulationVersion"`
	Eligible         bool   `json:"eligible"`
	// Reason says why it is not eligible, or would not be if this were not a
	// last resort.
	Reason string `json:"reason"`
	// Scores has a value for every criterion if the candidate is eligible, and
	// none if not.
	Scores Scores `json:"scores"`

	created time.Time
}

// NewElection tells what was decided from view. lease is the Lease as it is,
// nil if it does not exist.
func NewElection(view *candidates.View, lease *coordinationv1.Lease, decision *picker.Decision) Election {
	policy := view.Policy
	e := Election{
		Lease:       view.State.Lease.Namespace + "/" + view.State.Lease.Name,
		Policy:      reference(policy.PolicyRef),
		Strategy:    policy.Strategy,
		Mode:        policy.Mode,
		Holder:      holderOf(view, lease),
		AnyEligible: decision.AnyEligible,
		Criterion:   decision.Criterion,
		LastResort:  decision.LastResort,
		Criteria:    policy.Criteria(),
		Candidates:  make([]Candidate, 0, len(decision.Verdicts)),
	}
	if c := decision.Chosen; c != nil {
		e.Chosen, e.Identity = &c.Name, known(view.Identity(c.Name))
	}
	for i := range decision.Verdicts {
		e.Candidates = append(e.Candidates, newCandidate(e.Criteria, &decision.Verdicts[i]))
	}
	for _, ref := range view.Overruled {
		e.Overruled = append(e.Overruled, reference(ref))
	}
	return e
}

// Undecided reports whether nobody may acquire the Lease.
func (e *Election) Undecided() bool { return e.eligible() == 0 }

// eligible counts the eligible candidates, which come first.
func (e *Election) eligible() int {
	for i := range e.Candidates {
		if !e.Candidates[i].Eligible {
			return i
		}
	}
	return len(e.Candidates)
}

func newCandidate(criteria []string, v *picker.Verdict) Candidate {
	c := v.Candidate
	return Candidate{
		Name:             c.Name,
		Source:           c.Sources[0],
		Sources:          c.Sources,
		Node:             c.Node,
		Version:          c.BinaryVersion.String(),
		EmulationVersion: c.EmulationVersion.String(),
		Eligible:         v.Eligible,
		Reason:           v.Reason,
		Scores:           newScores(criteria, v),
		created:          c.Created,
	}
}

func holderOf(view *candidates.View, lease *coordinationv1.Lease) *Holder {
	if lease == nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return nil
	}
	identity := *lease.Spec.HolderIdentity
	candidate := view.Identify(identity, nil).Candidate
	return &Holder{
		Name:     known(candidate),
		Identity: identity,
		TermOver: candidate != "" && view.State.Lease.Holder == "",
	}
}

// reference is how kubectl takes a policy.
func reference(r picker.PolicyRef) string { return r.Kind + "/" + r.Name }

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
