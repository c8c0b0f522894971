package report

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// JSON writes one object per Lease, one after the other, so that a filter such
// as "jq .chosen" does the same for one Lease and for many.
func JSON[T any](w io.Writer, elections []T) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	for i := range elections {
		if err := encoder.Encode(&elections[i]); err != nil {
			return err
		}
	}
	return nil
}

// YAML writes one document per Lease.
func YAML[T any](w io.Writer, elections []T) error {
	for i := range elections {
		document, err := yaml.Marshal(&elections[i])
		if err != nil {
			return err
		}
		if i > 0 {
			document = append([]byte("---\n"), document...)
		}
		if _, err := w.Write(document); err != nil {
			return err
		}
	}
	return nil
}
