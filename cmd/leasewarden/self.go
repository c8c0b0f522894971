package main

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// self is the object that Events about this replica are on: its Pod, or
// Leasewarden's Namespace where there is none.
func self(user *authenticationv1.UserInfo, namespace string) *corev1.ObjectReference {
	name, uid := user.Extra[serviceaccount.PodNameKey], user.Extra[serviceaccount.PodUIDKey]
	if len(name) == 1 && len(uid) == 1 {
		return &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: name[0], UID: types.UID(uid[0])}
	}
	// With a namespace, so that the Event is in it, where people look.
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Namespace: namespace, Name: namespace}
}

// self returns nil as long as the API server has not said who we are.
func (s *server) self() runtime.Object {
	user := s.cluster.who()
	if user == nil {
		return nil
	}
	return self(user, s.options.namespace)
}
