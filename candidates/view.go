package candidates

import (
	"errors"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// ErrNotSynced is returned while the caches are still being filled. The error
// that wraps it names the cache.
var ErrNotSynced = errors.New("cache is not filled yet")

// View is what is known of one governed Lease at one moment.
type View struct {
	// Policy is the policy that governs the Lease, Spec what it was compiled
	// from.
	Policy *picker.Policy
	Spec   *v1alpha1.ElectionPolicySpec
	// State is what the picker decides on. Its Now is the moment of the view.
	State picker.State
	// Overruled are other policies that select the Lease and lost.
	Overruled []picker.PolicyRef
}

// Claimant is who sends an acquire attempt: the identity that the Lease's new
// holderIdentity claims, and the user that the API server authenticated.
type Claimant struct {
	Identity string
	User     authenticationv1.UserInfo
}
