package terms

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// priorities are the ends of priorities that are in force, by candidate.
type priorities map[string]time.Time

// update returns the priorities that are in force now, and tells of those that
// were and have run out. A priority that somebody took back is no news.
func (p priorities) update(view *candidates.View) (priorities, []finding) {
	next := priorities{}
	var found []finding
	for i := range view.State.Candidates {
		c := &view.State.Candidates[i]
		switch {
		case c.Priority <= 0 || c.PriorityUntil.IsZero():
		case c.PriorityUntil.After(view.State.Now):
			next[c.Name] = c.PriorityUntil
		case p[c.Name].Equal(c.PriorityUntil):
			found = append(found, priorityEnded(view, c))
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.note, b.note) })
	return next, found
}

// priorityEnded says whether the priority expired as its owner wanted, or was
// forgotten.
func priorityEnded(view *candidates.View, c *picker.Candidate) finding {
	f := finding{kind: corev1.EventTypeNormal, reason: EventPriorityEnded, action: "EndPriority", pod: view.Pod(c.Name)}
	ended := fmt.Sprintf("priority %d of %s ended at %s", c.Priority, c.Name, c.PriorityUntil.UTC().Format(time.RFC3339))
	if f.pod != nil && endsBy(f.pod, c.PriorityUntil) {
		f.note = ended + ", as " + v1alpha1.PriorityUntilAnnotation + " says; remove both annotations"
		return f
	}
	f.note = fmt.Sprintf("%s, after maxPriorityDuration (%s) of %s at the latest; remove it, or set it anew if it is still wanted",
		ended, view.Spec.MaxPriorityDuration.Duration, view.Policy)
	return f
}

func endsBy(pod *corev1.Pod, end time.Time) bool {
	until, err := time.Parse(time.RFC3339, pod.Annotations[v1alpha1.PriorityUntilAnnotation])
	return err == nil && until.Equal(end)
}

// next is when the first priority ends. Zero: none does.
func (p priorities) next() time.Time {
	var first time.Time
	for _, until := range p {
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}
