package auditreport

import (
	"encoding/json"
	"io"

	"github.com/leasewarden/leasewarden/audit"
)

// JSON writes the report as one object.
func JSON(w io.Writer, r *audit.Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}
