package candidates

import (
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// notRegistered is the Problem of an identity that no source knows.
const notRegistered = "is not a registered candidate"

// identify says which candidate writes identity. user may be nil: then the
// string is all there is. With verify, a token that is bound to another Pod
// than the one that the string names refutes the string.
func (r *roster) identify(identity string, user *authenticationv1.UserInfo, verify bool) Identification {
	claimed := r.match(identity)
	if user != nil {
		if token, ok := podOfToken(user); ok {
			return r.identifyToken(token, identity, claimed, verify)
		}
	}
	return r.identifyClaim(claimed)
}

// identifyClaim goes by the identity string alone.
func (r *roster) identifyClaim(claimed []int) Identification {
	switch len(claimed) {
	case 0:
		return Identification{Problem: notRegistered}
	case 1:
		return Identification{Candidate: r.candidates[claimed[0]].Name}
	}
	id := Identification{Problem: "could be " + r.describeAll(claimed) +
		" (a token bound to one of the Pods would tell, or leaseName in the policy if they belong to different Leases)"}
	for _, i := range claimed {
		id.Among = append(id.Among, r.candidates[i].Name)
	}
	return id
}

// identifyToken goes by the Pod that the token is bound to, which may confirm,
// settle or refute what the identity string claims. A registration of the whole
// identity does not take it from the Pod whose hostname it has.
func (r *roster) identifyToken(token boundPod, identity string, claimed []int, verify bool) Identification {
	if i, ok := r.podOf(token); ok {
		if len(claimed) == 0 || slices.Contains(claimed, i) || slices.Contains(r.matchHost(identity), i) {
			return Identification{Candidate: r.candidates[i].Name, Proved: true}
		}
		if verify {
			return r.refute(token, claimed)
		}
		return r.identifyClaim(claimed)
	}
	if verify && len(claimed) > 0 && r.allPods(claimed) {
		return r.refute(token, claimed)
	}
	return r.identifyClaim(claimed)
}

// podOf returns the candidate that is the very Pod of the token: not one of
// the same name in another namespace, and not an earlier one of that name.
func (r *roster) podOf(token boundPod) (int, bool) {
	if token.namespace != r.namespace {
		return -1, false
	}
	i, ok := r.pod(token.name)
	return i, ok && string(r.instances[i].pod.UID) == token.uid
}

func (r *roster) allPods(indices []int) bool {
	return !slices.ContainsFunc(indices, func(i int) bool { return r.instances[i].pod == nil })
}

// refute says why the string is not believed.
func (r *roster) refute(token boundPod, claimed []int) Identification {
	claim := r.describe(claimed[0])
	if len(claimed) > 1 {
		claim = r.describeAll(claimed)
	}
	bound := token.in(r.namespace)
	if bound == claim {
		return Identification{Problem: fmt.Sprintf("claims %s, but its token is bound to another Pod of that name (UID %s)", claim, token.uid)}
	}
	return Identification{Problem: fmt.Sprintf("claims %s, but its token is bound to %s", claim, bound)}
}
