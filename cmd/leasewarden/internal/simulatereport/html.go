package simulatereport

import (
	"io"

	"github.com/leasewarden/leasewarden/audit"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/auditreport"
	"github.com/leasewarden/leasewarden/simulate"
)

// HTML writes the report as one page that needs nothing else. Its time line is
// that of the first run.
func HTML(w io.Writer, r *Report) error {
	page := &auditreport.Comparison{
		Title: "What would happen", Lines: heading(r), Table: rows(r), Sample: "The first run",
		From: simulate.Epoch, To: simulate.Epoch.Add(r.Scenario.Duration.Duration),
	}
	for _, x := range r.Results {
		page.Courses = append(page.Courses, auditreport.NamedCourse{Name: "under " + x.Contender, Terms: terms(x.Sample)})
	}
	return page.HTML(w)
}

func terms(sample []simulate.Term) []audit.Term {
	all := make([]audit.Term, len(sample))
	for i := range sample {
		t := &sample[i]
		all[i] = audit.Term{
			Holder: t.Holder, Identity: t.Identity, Version: t.Version, Node: t.Node,
			Start: t.Start, Renewed: t.End, Criterion: t.Criterion,
		}
		if t.Ended {
			all[i].End = &t.End
		}
	}
	return all
}
