package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// leaseWidth is how much of a Lease's name is kept for as long as something
// else can be cut.
const leaseWidth = 24

// Overview writes one line for each Election, and below what is unusual. now is
// the time that terms last until. Namespaces are shown if there are several.
func Overview(w io.Writer, elections []v1alpha1.Election, now time.Time, style Style) error {
	p := newPrinter(style)
	oneNamespace := !slices.ContainsFunc(elections, func(e v1alpha1.Election) bool { return e.Namespace != elections[0].Namespace })
	all := make([]row, len(elections))
	for i := range elections {
		all[i] = overviewRow(&elections[i], now, !oneNamespace)
	}
	p.rows([]field{
		{title: "LEASE", cut: cutFront, least: leaseWidth}, replicaField("HOLDER"), replicaField("CHOSEN"),
		{title: "MODE"}, wordField("WHY"), {title: "TERM"},
	}, all)
	first := true
	for i := range elections {
		for _, note := range unusual(&elections[i], now) {
			if first {
				p.line(plain, "")
				first = false
			}
			p.wrapped(plain, nameOf(&elections[i])+": "+note)
		}
	}
	return p.flush(w)
}

func overviewRow(e *v1alpha1.Election, now time.Time, qualified bool) row {
	r := row{lease: e.Name, cells: []string{e.Name, vacant, e.Status.Chosen, string(e.Status.Mode), e.Status.Criterion, ""}}
	if qualified {
		r.cells[0] = nameOf(e)
	}
	switch h := e.Status.Holder; {
	case h == nil:
		r.how = red
	default:
		r.cells[1], r.cells[5] = h.Name, since(h.Since, now)
		if h.Name == e.Status.Chosen {
			r.cells[2] = "same"
		}
		if isTrue(e, v1alpha1.ConditionHolderNotChosen) {
			r.how = yellow
		}
	}
	return r
}

// unusual is what a line does not tell.
func unusual(e *v1alpha1.Election, now time.Time) []string {
	var notes []string
	if s := e.Status.Switchover; s != nil && !s.State.Ended() {
		notes = append(notes, "switchover "+switchoverText(s, now))
	}
	if doing := action(e); doing != "" {
		notes = append(notes, doing)
	}
	if other := otherLeader(e, now); other != "" {
		notes = append(notes, other)
	}
	if ready := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Status == metav1.ConditionFalse {
		notes = append(notes, ready.Message)
	}
	if pinned := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionPinned); pinned != nil && pinned.Status == metav1.ConditionFalse {
		notes = append(notes, "pinned to "+e.Spec.Pin+", but "+pinned.Message)
	}
	return notes
}

// switchoverText says how far a switchover got.
func switchoverText(s *v1alpha1.SwitchoverStatus, now time.Time) string {
	ago := duration.HumanDuration(now.Sub(s.Time.Time))
	switch {
	case s.State == v1alpha1.SwitchoverScheduled && s.At != nil:
		return fmt.Sprintf("to %s begins in %s, at %s", s.To, duration.HumanDuration(s.At.Sub(now)), s.At.UTC().Format(time.RFC3339))
	case s.State == v1alpha1.SwitchoverInProgress && s.Deadline != nil:
		return fmt.Sprintf("to %s for %s, %s; fails in %s", s.To, ago, s.Message, duration.HumanDuration(s.Deadline.Sub(now)))
	case s.State == v1alpha1.SwitchoverDone:
		return fmt.Sprintf("to %s done %s ago", s.To, ago)
	}
	return fmt.Sprintf("to %s %s %s ago: %s", s.To, strings.ToLower(spaced(string(s.State))), ago, s.Message)
}

func nameOf(e *v1alpha1.Election) string { return e.Namespace + "/" + e.Name }

func isTrue(e *v1alpha1.Election, condition string) bool {
	return meta.IsStatusConditionTrue(e.Status.Conditions, condition)
}

// since is how long ago a time was, "" if it is not known.
func since(t *metav1.Time, now time.Time) string {
	if t == nil {
		return ""
	}
	return duration.HumanDuration(now.Sub(t.Time))
}
