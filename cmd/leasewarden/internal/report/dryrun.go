package report

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// dryRunText says what would have happened, "" if there is no dry-run to tell of.
func dryRunText(e *v1alpha1.Election, now time.Time) string {
	d := e.Status.DryRun
	if d == nil {
		return ""
	}
	var parts []string
	switch {
	case !d.Runs():
		parts = append(parts, fmt.Sprintf("ended %s ago, after %s", since(d.Until, now), duration.HumanDuration(d.Until.Sub(d.Since.Time))))
	default:
		parts = append(parts, fmt.Sprintf("for %s, %s", since(&d.Since, now), wouldLead(e, now)))
	}
	parts = append(parts, fmt.Sprintf("%s of the leader instead of %d", count(d.LeaderChanges, "change"), d.HolderChanges))
	if l := d.LastDenied; l != nil {
		parts = append(parts, fmt.Sprintf("%s refused, last %s %s ago", count(d.WouldDeny, "term"), l.Candidate, since(&l.Time, now)))
	}
	for _, more := range []string{d.WouldDo, d.Message} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, "; ")
}

// wouldLead says who would.
func wouldLead(e *v1alpha1.Election, now time.Time) string {
	d := e.Status.DryRun
	switch {
	case d.Leader == "":
		return "nobody would lead"
	case e.Status.Holder != nil && e.Status.Holder.Name == d.Leader:
		return "the same would lead"
	case d.LeaderSince == nil:
		return d.Leader + " would lead"
	}
	return d.Leader + " would lead for " + since(d.LeaderSince, now)
}

// otherLeader is what a line of the overview does not tell: that somebody else
// would lead. "" if that is not so.
func otherLeader(e *v1alpha1.Election, now time.Time) string {
	d := e.Status.DryRun
	if !d.Runs() || e.Status.Holder != nil && e.Status.Holder.Name == d.Leader {
		return ""
	}
	return "in dry-run: " + wouldLead(e, now)
}

// count is a number of things.
func count(n int32, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
