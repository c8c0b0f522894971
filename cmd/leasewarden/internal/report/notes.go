package report

import (
	"time"

	"github.com/leasewarden/leasewarden/picker"
)

// notes say in words what decided, and what else there is to know.
func notes(e *Election) []string {
	all := []string{outcome(e)}
	if e.LastResort {
		all = append(all, "The policy's filters left nobody within the acquire deadline: as a last resort, they were passed over.")
	}
	for _, policy := range e.Overruled {
		all = append(all, policy+" selects this Lease, too, and is overruled.")
	}
	return all
}

func outcome(e *Election) string {
	switch {
	case e.Criterion == picker.CriterionPaused:
		return "The election is paused: any candidate may acquire the Lease."
	case len(e.Candidates) == 0:
		return "There is no candidate: no Pod that the policy selects, no LeaseCandidate and no Candidate names this Lease."
	case e.eligible() == 0:
		return "No candidate is eligible."
	case e.AnyEligible:
		return "Any eligible candidate may acquire the Lease: the strategy chooses nobody."
	case e.Criterion == picker.CriterionPinned:
		return "The Lease is pinned to " + e.Candidates[0].Name + "."
	case e.Criterion == picker.CriterionSwitchover:
		return "The Lease is being moved to " + e.Candidates[0].Name + ": a switchover is in progress."
	case e.Criterion == picker.CriterionOnlyCandidate:
		return e.Candidates[0].Name + " is the only eligible candidate."
	case e.Criterion == picker.CriterionOldest:
		return tie(e)
	}
	return "* " + e.Criterion + " decided: " + comparison(e)
}

// comparison says what the first two candidates differ in.
func comparison(e *Election) string {
	for i, score := range e.Candidates[0].Scores {
		if score.Criterion == e.Criterion {
			return score.Value.String() + " is preferred to " + e.Candidates[1].score(i) + " of " + e.Candidates[1].Name + "."
		}
	}
	return "the first one is preferred."
}

// tie says what broke it.
func tie(e *Election) string {
	first, second := &e.Candidates[0], &e.Candidates[1]
	if first.created.Equal(second.created) {
		return "No criterion tells " + first.Name + " and " + second.Name + " apart, and they are of the same age: the name that comes first is preferred."
	}
	return "No criterion tells " + first.Name + " and " + second.Name + " apart: the older one is preferred (created " +
		first.created.UTC().Format(time.RFC3339) + " and " + second.created.UTC().Format(time.RFC3339) + ")."
}
