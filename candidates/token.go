package candidates

import (
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// boundPod is the Pod that a service account token is bound to. The API server
// checks it with every request, so it is proof and not a claim.
type boundPod struct {
	namespace, name, uid, node string
}

// podOfToken returns the Pod that the user's token is bound to. There is none
// for users that are not service accounts, whatever their extra fields say,
// and for tokens that are not bound or come from an API server too old to tell.
func podOfToken(user *authenticationv1.UserInfo) (boundPod, bool) {
	namespace, _, err := serviceaccount.SplitUsername(user.Username)
	if err != nil {
		return boundPod{}, false
	}
	b := boundPod{
		namespace: namespace,
		name:      extra(user, serviceaccount.PodNameKey),
		uid:       extra(user, serviceaccount.PodUIDKey),
		node:      extra(user, serviceaccount.NodeNameKey),
	}
	return b, b.name != "" && b.uid != ""
}

func extra(user *authenticationv1.UserInfo, key string) string {
	if values := user.Extra[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// in names the Pod as seen from a namespace.
func (b boundPod) in(namespace string) string {
	if b.namespace == namespace {
		return "Pod " + b.name
	}
	return strings.Join([]string{"Pod ", b.namespace, "/", b.name}, "")
}
