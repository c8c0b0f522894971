package doctor

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Verdict is how bad a finding is.
type Verdict string

const (
	// OK: as it should be.
	OK Verdict = "ok"
	// Warning: it works, but may not go on doing so.
	Warning Verdict = "warning"
	// Problem: it does not work.
	Problem Verdict = "problem"
	// Unknown: it could not be found out.
	Unknown Verdict = "unknown"
)

// Finding is one thing that was found out. Its JSON is read by people's scripts:
// keys may be added, but none may be renamed or removed.
type Finding struct {
	// Check is the name of the check that found it.
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	// Message says what was found, Advice what to do about it. There is no
	// advice if all is well.
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

// Count is how many findings have that verdict.
func Count(findings []Finding, v Verdict) int {
	n := 0
	for i := range findings {
		if findings[i].Verdict == v {
			n++
		}
	}
	return n
}

func ok(format string, args ...any) []Finding {
	return []Finding{{Verdict: OK, Message: fmt.Sprintf(format, args...)}}
}

func warning(advice, format string, args ...any) Finding {
	return Finding{Verdict: Warning, Message: fmt.Sprintf(format, args...), Advice: advice}
}

func problem(advice, format string, args ...any) Finding {
	return Finding{Verdict: Problem, Message: fmt.Sprintf(format, args...), Advice: advice}
}

func unknown(advice, format string, args ...any) Finding {
	return Finding{Verdict: Unknown, Message: fmt.Sprintf(format, args...), Advice: advice}
}

// unread says why something that a check needs could not be read.
func unread(what string, err error) []Finding {
	switch {
	case apierrors.IsForbidden(err):
		return []Finding{unknown("have somebody run this who may, or ask for the right to get and list them", "you may not read %s", what)}
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return []Finding{unknown("see the check crds", "the API server does not serve %s", what)}
	}
	return []Finding{unknown("run this again", "reading %s: %v", what, err)}
}
