package terms

import (
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// intention is what would be done about a term if the policy were enforced. The
// zero intention is to do nothing.
type intention struct {
	action Action
	// note says what would be done and why, as one sentence.
	note string
	// replacement is the candidate that the holder would have to make way for.
	// Empty: it would not.
	replacement string
	// again is when that changes by time alone. Zero: it does not.
	again time.Time
}

// intention is what the plan would be in the mode Enforce. What was ordered
// before the dry-run began is being taken back first.
func (s *situation) intention() intention {
	if s.mode != v1alpha1.DryRun || s.ordered() {
		return intention{}
	}
	enforced := *s
	enforced.mode = v1alpha1.Enforce
	p := enforced.plan()
	would := intention{action: p.action, again: p.again}
	switch p.action {
	case ActionStepDown:
		would.note, would.replacement = s.replaced("would be told to step down"), s.decision.Chosen.Name
	case ActionEvict:
		would.note, would.replacement = s.replaced("would be evicted, if PodDisruptionBudgets allow it"), s.decision.Chosen.Name
	case ActionRelease:
		would.note = s.released(p.death, "would be")
	}
	return would
}

// replaced says what happens to the holder and for whom.
func (s *situation) replaced(what string) string {
	return fmt.Sprintf("%s %s: %s is chosen by %s", s.holderName(), what, s.decision.Chosen.Name, s.criterion())
}

// released says for what the Lease is released.
func (s *situation) released(d *death, verb string) string {
	return fmt.Sprintf("the Lease %s released for %s: its container %s ended at %s with exit code %d",
		verb, s.holderName(), d.container, d.run.FinishedAt.UTC().Format(time.RFC3339), d.run.ExitCode)
}
