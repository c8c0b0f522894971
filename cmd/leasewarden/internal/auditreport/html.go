package auditreport

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/leasewarden/leasewarden/audit"
)

//go:embed page.gohtml
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// HTML writes the report as one page that needs nothing else: no network, no
// script.
func HTML(w io.Writer, r *audit.Report) error { return pageTemplate.Execute(w, newPage(r)) }
