package candidates

import (
	"errors"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"

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

// Identification is what the sources make of a Claimant.
type Identification struct {
	// Candidate is the Name of the candidate that the claimant is. Empty: it is
	// none, and Problem says why.
	Candidate string
	// Proved says that the request's token, and not just the identity string,
	// names the candidate.
	Proved bool
	// Problem is a phrase such as "is not a registered candidate" or "claims
	// Pod a, but its token is bound to Pod b".
	Problem string
}

// Attempt is one attempt to acquire a Lease.
type Attempt struct {
	// Old is the Lease before the attempt, nil if it did not exist; New is as
	// the claimant wants it.
	Old, New *coordinationv1.Lease
	// User is who the API server authenticated.
	User authenticationv1.UserInfo
	// Time is when the attempt was seen, by our own clock.
	Time time.Time
	// SideEffectFree says that the attempt must leave no trace
	// (kubectl --dry-run=server).
	SideEffectFree bool
}

// Ballot is what an Attempt comes down to.
type Ballot struct {
	View
	// Claimant is what the sources make of the attempt's identity.
	Claimant Identification
	// TermEnds is when the present holder's term ends at the earliest, by our
	// own observation and by the Lease's renewTime, whichever is sooner: before
	// it, the term has certainly not run out. Zero: nobody holds the Lease, or
	// its term has run out.
	TermEnds time.Time
}
