package doctor

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const notReached = "see the checks webhook and certificates, whether a firewall or NetworkPolicy keeps API servers from the webhook's port, and the log of the API server for \"failed calling webhook\""

// checkReachable has the API server that answers call the webhook: it tries, as a
// dry run, to create a policy that nobody but the webhook refuses.
func checkReachable(s *snapshot) []Finding {
	err := s.asked.err
	switch {
	case s.asked.what == "":
		return []Finding{unknown("see the check webhook", "no webhook is registered that is asked about policies")}
	case err == nil:
		return []Finding{problem(notReached, "the webhook does not answer the API server: a policy that cannot be used was admitted (in a dry run)")}
	case refusedByUs(err):
		return ok("the API server that answered reaches the webhook and trusts it")
	case strings.Contains(err.Error(), "failed calling webhook"):
		return []Finding{problem(notReached, "the webhook does not answer the API server: %v", err)}
	case apierrors.IsForbidden(err):
		return []Finding{unknown("have somebody run this who may; nothing is created", "to try it, you must be allowed to create %s", s.asked.what)}
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return []Finding{unknown("see the check crds", "%s cannot be tried: %v", s.asked.what, err)}
	}
	return []Finding{unknown("run this again", "%s was tried and not ruled on: %v", s.asked.what, err)}
}

// refusedByUs reports whether a webhook of Leasewarden has refused.
func refusedByUs(err error) bool {
	_, after, found := strings.Cut(err.Error(), `admission webhook "`)
	name, _, _ := strings.Cut(after, `"`)
	return found && strings.HasSuffix(name, "."+v1alpha1.GroupVersion.Group) && strings.Contains(after, "denied the request")
}
