package main

import (
	"context"
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// reviews are acquires of the vacant Lease of the first arena, by each of its
// candidates, in the form in which the API server asks about them: with the
// managed fields, and a user whose token is bound to the Pod.
func (b *bench) reviews() ([][]byte, error) {
	ctx := context.Background()
	lease, err := b.kube.CoordinationV1().Leases(arena(0)).Get(ctx, probed, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	lease.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	lease.Name = app // nobody writes the one that is probed
	var all [][]byte
	for i := range replicas {
		pod, err := b.kube.CoreV1().Pods(arena(0)).Get(ctx, fmt.Sprintf("%s-%d", app, i), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		review, err := reviewOf(lease, pod.Name, pod.UID, identity(app, i))
		if err != nil {
			return nil, err
		}
		all = append(all, review)
	}
	return all, nil
}

func reviewOf(old *coordinationv1.Lease, pod string, uid types.UID, identity string) ([]byte, error) {
	attempt := old.DeepCopy()
	take(attempt, identity)
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(attempt)
	if err != nil {
		return nil, err
	}
	kind := metav1.GroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	resource := metav1.GroupVersionResource(coordinationv1.SchemeGroupVersion.WithResource("leases"))
	service := "system:serviceaccount:" + old.Namespace
	return json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "6a3b2f9e-3c4a-4f6b-9d64-5c4f3a2b1d0e", Kind: kind, Resource: resource, RequestKind: &kind, RequestResource: &resource,
			Namespace: old.Namespace, Name: old.Name, Operation: admissionv1.Update, DryRun: ptr.To(false),
			UserInfo: authenticationv1.UserInfo{
				Username: service + ":default", UID: "5f1c9a3e-1b1c-4b0e-8d3b-7e6a5d4c3b2a",
				Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + old.Namespace, "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{
					"authentication.kubernetes.io/credential-id": {"JTI=3b8f7a0e-8a4f-4d5a-9d33-0c1f1f0d9b11"},
					"authentication.kubernetes.io/node-name":     {"elsewhere"},
					"authentication.kubernetes.io/node-uid":      {"9c1d1b5e-6f0a-4f8a-9a4c-3f2e1d0c9b8a"},
					"authentication.kubernetes.io/pod-name":      {pod},
					"authentication.kubernetes.io/pod-uid":       {string(uid)},
				},
			},
			Object: runtime.RawExtension{Raw: after}, OldObject: runtime.RawExtension{Raw: before},
			Options: runtime.RawExtension{Raw: []byte(`{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1"}`)},
		},
	})
}
