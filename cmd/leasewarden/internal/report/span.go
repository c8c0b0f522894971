package report

import (
	"slices"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// span is a time in which one candidate held a Lease, or nobody did.
type span struct {
	// holder is empty for a vacancy.
	holder     string
	start, end time.Time
	// term is nil for a vacancy.
	term *v1alpha1.Term
}

// spansOf are the terms, the newest first, with the vacancies between them, the
// oldest first. What has not ended goes on until now. Times before from are
// left out.
func spansOf(terms []v1alpha1.Term, from, now time.Time) []span {
	var spans []span
	for i := len(terms) - 1; i >= 0; i-- {
		t := &terms[i]
		s := span{holder: t.Holder, start: t.Start.Time, end: now, term: t}
		if t.End != nil {
			s.end = t.End.Time
		}
		if n := len(spans); n > 0 && spans[n-1].end.Before(s.start) {
			spans = append(spans, span{start: spans[n-1].end, end: s.start})
		}
		spans = append(spans, s)
	}
	if n := len(spans); n > 0 && spans[n-1].end.Before(now) {
		spans = append(spans, span{start: spans[n-1].end, end: now})
	}
	return slices.DeleteFunc(spans, func(s span) bool { return s.end.Before(from) })
}

// holdersOf are those of the spans, in the order in which they first held the
// Lease, and "" at the end if it was vacant.
func holdersOf(spans []span) []string {
	var holders []string
	vacant := false
	for i := range spans {
		if h := spans[i].holder; h == "" {
			vacant = true
		} else if !slices.Contains(holders, h) {
			holders = append(holders, h)
		}
	}
	if vacant {
		holders = append(holders, "")
	}
	return holders
}
