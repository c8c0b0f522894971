package candidates

import (
	"errors"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// ErrNotSynced is returned while the caches are still being filled. The error
// that wraps it names the cache.
var ErrNotSynced = errors.New("cache is not filled yet")

// ErrNotGoverned is returned for a Lease that no policy governs. The error
// that wraps it names the Lease.
var ErrNotGoverned = errors.New("no policy governs the Lease")

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
	// Problems are findings that keep nobody from leading, such as an
	// annotation that cannot be read. They are worth an Event.
	Problems []Problem

	roster *roster
	// departed are Pods that were deleted lately. Nil: none.
	departed *roster
}

// Problem is a finding about one candidate.
type Problem struct {
	// Candidate is the Name of the candidate.
	Candidate string
	// Message is a phrase that names what was found, where, and what it means.
	Message string
}

// Identify says which of the candidates writes a holder identity. user is who
// the API server authenticated, or nil where only the string is known, as for
// the holder of a Lease.
func (v *View) Identify(identity string, user *authenticationv1.UserInfo) Identification {
	return v.roster.identify(identity, user, *v.Spec.Candidates.VerifyIdentity)
}

// Identity is the holder identity that the candidate of that name registered
// or was last seen with. Empty: not known.
func (v *View) Identity(candidate string) string {
	if i := v.roster.index(candidate); i >= 0 {
		return v.roster.instances[i].identity
	}
	return ""
}

// Pod is the Pod that the candidate of that name is, trimmed to what this
// package keeps (see Cache). Nil: it is not a Pod. It must not be changed.
func (v *View) Pod(candidate string) *corev1.Pod {
	if i, ok := v.roster.pod(candidate); ok {
		return v.roster.instances[i].pod
	}
	return nil
}

// Identification is what the sources make of a Claimant.
type Identification struct {
	// Candidate is the Name of the candidate that the claimant is. Empty: it is
	// none, and Problem says why.
	Candidate string
	// Among are the candidates that it could be, where the identity alone does
	// not tell them apart: two Pods on the network of one node. Candidate is
	// empty then.
	Among []string
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
	// TermHolder is the identity whose term that is. It is the last holder's if
	// the Lease was deleted before its term had run out.
	TermHolder string
	// Exempt says that the policy exempts the user who asks.
	Exempt bool
	// WouldLead is the candidate that would lead if the policy, which is in
	// dry-run, had been enforced, where that is not who does or did last. Empty:
	// it is, or nobody would.
	WouldLead string
}
