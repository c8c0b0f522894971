package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// BenchmarkHandler is one review from the body to the answer, by what is ruled,
// and beside it that of a controller-runtime webhook that allows everything.
func BenchmarkHandler(b *testing.B) {
	leases := &Leases{
		Elections: replayed{candidates.NewReplay(benchObjects(3))}, Username: "leasewarden",
		Metrics: NewMetrics(prometheus.NewRegistry()), Log: logr.Discard(),
	}
	allowAll := &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Allowed("")
	})}
	ctrllog.SetLogger(logr.Discard())
	for _, bench := range []struct {
		name    string
		handler http.Handler
		pod     int
	}{
		{"validating/chosen", leases.Validating(), 0},
		{"validating/refused", leases.Validating(), 1},
		{"mutating/chosen", leases.Mutating(), 0},
		{"mutating/refused", leases.Mutating(), 1},
		{"allow everything", allowAll, 0},
	} {
		body := benchReview(b, bench.pod)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := &http.Request{
					Method: http.MethodPost, URL: &url.URL{Path: ValidateLeasePath}, Header: http.Header{"Content-Type": {"application/json"}},
					ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
				}
				w := httptest.NewRecorder()
				bench.handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

// benchObjects are a policy and the Pods of the Lease ns/app, of which the first
// is the oldest.
func benchObjects(pods int) *candidates.ObjectSet {
	objects := candidates.NewObjectSet()
	objects.Add(&v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app"}, Spec: v1alpha1.ElectionPolicySpec{
		Leases: v1alpha1.LeaseSelection{Names: []string{"app"}},
		Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "app"}},
			Version:  &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{}},
		}},
		Strategy: v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion},
	}})
	for i := range pods {
		name := benchPod(i)
		objects.Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "app"}},
			Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "app", Image: fmt.Sprintf("app:v1.36.%d", i)}}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	return objects
}

func benchPod(i int) string { return fmt.Sprintf("app-76d5d97c9d-%d", i) }

// benchReview is the acquire attempt of a Pod, as the API server sends it.
func benchReview(b *testing.B, pod int) []byte {
	name := benchPod(pod)
	lease := func(identity string) runtime.RawExtension {
		now := metav1.NowMicro()
		raw, err := json.Marshal(&coordinationv1.Lease{
			TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "app", UID: "0d7f8f0c-9a52-4f0c-8a65-6f7d7dcb5b0e", ResourceVersion: "123456", CreationTimestamp: metav1.Now(),
				ManagedFields: []metav1.ManagedFieldsEntry{{
					Manager: "app", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "coordination.k8s.io/v1", Time: ptr.To(metav1.Now()), FieldsType: "FieldsV1",
					FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:acquireTime":{},"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:leaseTransitions":{},"f:renewTime":{}}}`)},
				}},
			},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &identity, LeaseDurationSeconds: ptr.To[int32](15), LeaseTransitions: ptr.To[int32](3), AcquireTime: &now, RenewTime: &now,
			},
		})
		if err != nil {
			b.Fatal(err)
		}
		return runtime.RawExtension{Raw: raw}
	}
	options := runtime.RawExtension{Raw: []byte(`{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1"}`)}
	raw, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "6a3b2f9e-3c4a-4f6b-9d64-5c4f3a2b1d0e", Kind: leaseKind, Resource: leaseResource, RequestKind: &leaseKind, RequestResource: &leaseResource,
			Namespace: "ns", Name: "app", Operation: admissionv1.Update, DryRun: ptr.To(false), Options: options,
			UserInfo: authenticationv1.UserInfo{
				Username: "system:serviceaccount:ns:default", UID: "5f1c9a3e-1b1c-4b0e-8d3b-7e6a5d4c3b2a",
				Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{
					"authentication.kubernetes.io/credential-id": {"JTI=3b8f7a0e-8a4f-4d5a-9d33-0c1f1f0d9b11"},
					"authentication.kubernetes.io/node-name":     {"node-1"},
					"authentication.kubernetes.io/node-uid":      {"9c1d1b5e-6f0a-4f8a-9a4c-3f2e1d0c9b8a"},
					"authentication.kubernetes.io/pod-name":      {name},
					"authentication.kubernetes.io/pod-uid":       {name},
				},
			},
			Object: lease(name + "_9f8e7d6c-5b4a-4938-a716-0f1e2d3c4b5a"), OldObject: lease(""),
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return raw
}
