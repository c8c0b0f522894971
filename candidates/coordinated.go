package candidates

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// CoordinatedByUs reports whether the strategy of a Lease (KEP-4355) leaves the
// election to Leasewarden, as the third party that the API server knows nothing
// of.
func CoordinatedByUs(lease *coordinationv1.Lease) bool {
	return strings.HasPrefix(strategyOf(lease), v1alpha1.AnnotationPrefix)
}

// CoordinatedByOthers reports whether the Lease belongs to an election controller
// that is not Leasewarden: the API server's own, or another third party.
func CoordinatedByOthers(lease *coordinationv1.Lease) bool {
	return strategyOf(lease) != "" && !CoordinatedByUs(lease)
}

// strategyOf is the strategy of a coordinated election, "" for a Lease that has
// none.
func strategyOf(lease *coordinationv1.Lease) string {
	if lease == nil || lease.Spec.Strategy == nil {
		return ""
	}
	return string(*lease.Spec.Strategy)
}
