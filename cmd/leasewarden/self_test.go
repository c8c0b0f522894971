package main

import (
	"testing"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestSelf(t *testing.T) {
	g := NewWithT(t)
	g.Expect(self(&authenticationv1.UserInfo{Extra: map[string]authenticationv1.ExtraValue{
		"authentication.kubernetes.io/pod-name": {"leasewarden-0"}, "authentication.kubernetes.io/pod-uid": {"1234"},
	}}, "ns")).To(HaveValue(Equal(corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "leasewarden-0", UID: "1234"})))
	g.Expect(self(&authenticationv1.UserInfo{}, "ns")).
		To(HaveValue(Equal(corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Namespace: "ns", Name: "ns"})))
}
