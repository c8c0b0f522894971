package audit

import (
	"encoding/json"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// maxUsers bounds the users that are remembered.
const maxUsers = 1024

// users remembers users by their JSON: the same few ask again and again.
type users map[string]*authenticationv1.UserInfo

// get returns the user, who must not be changed. One that cannot be read is
// nobody in particular.
func (u users) get(raw []byte) *authenticationv1.UserInfo {
	if known, ok := u[string(raw)]; ok {
		return known
	}
	user := &authenticationv1.UserInfo{}
	if err := json.Unmarshal(raw, user); err != nil {
		*user = authenticationv1.UserInfo{}
	}
	if len(u) >= maxUsers {
		clear(u)
	}
	u[string(raw)] = user
	return user
}

// podOf is the Pod that the user's token is bound to, or "".
func podOf(user *authenticationv1.UserInfo) string {
	if names := user.Extra[serviceaccount.PodNameKey]; len(names) > 0 {
		return names[0]
	}
	return ""
}
