package doctor

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// checkRuling has somebody who is no candidate acquire a governed Lease, as a
// dry run.
func checkRuling(s *snapshot) []Finding {
	err := s.tried.err
	switch {
	case s.elections.err != nil:
		return unread("Elections", s.elections.err)
	case s.tried.what == "":
		return ok("no Lease is enforced for everybody, so there is nothing to try")
	case err == nil && s.tried.stamped, err != nil && refusedByUs(err):
		return ok("an attempt to acquire %s is ruled on", s.tried.what)
	case err == nil:
		return []Finding{problem("see the checks reachable and registration",
			"nobody rules on %s: somebody who is no candidate may acquire it (tried in a dry run)", s.tried.what)}
	case strings.Contains(err.Error(), "failed calling webhook"):
		return []Finding{problem(notReached, "nobody can acquire %s: %v", s.tried.what, err)}
	case apierrors.IsForbidden(err):
		return []Finding{unknown("have somebody run this who may; nothing is written", "to try it, you must be allowed to patch %s", s.tried.what)}
	}
	return []Finding{unknown("run this again", "an attempt to acquire %s was not ruled on: %v", s.tried.what, err)}
}
