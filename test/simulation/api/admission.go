package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

var (
	leaseKind     = metav1.GroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	leaseResource = metav1.GroupVersionResource(coordinationv1.SchemeGroupVersion.WithResource("leases"))
)

// mutate asks the mutating hooks, and returns the Lease as they want it.
func (f *Frontend) mutate(w *write, user *authenticationv1.UserInfo) (*coordinationv1.Lease, error) {
	for _, h := range f.hooks(false) {
		if !h.matches(w) {
			continue
		}
		response, err := f.review(h, w, user)
		if err != nil || response == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if len(response.Patch) > 0 {
			patched, err := patchLease(w.new, response.Patch)
			if err != nil {
				return nil, apierrors.NewInternalError(err)
			}
			w.new = patched
		}
	}
	return w.new, nil
}

// validate asks the validating hooks.
func (f *Frontend) validate(w *write, user *authenticationv1.UserInfo) error {
	for _, h := range f.hooks(true) {
		if !h.matches(w) {
			continue
		}
		if _, err := f.review(h, w, user); err != nil {
			return err
		}
	}
	return nil
}

// review asks one hook. The response is nil if it did not answer, and that is
// ignored.
func (f *Frontend) review(h *hook, w *write, user *authenticationv1.UserInfo) (*admissionv1.AdmissionResponse, error) {
	request := &admissionv1.AdmissionRequest{
		UID: types.UID(fmt.Sprintf("review-%s", w.new.Name)), Kind: leaseKind, Resource: leaseResource,
		Name: w.new.Name, Namespace: w.new.Namespace, Operation: admissionv1.Operation(w.operation), UserInfo: *user,
		Object: runtime.RawExtension{Raw: encodeLease(w.new)},
	}
	if w.old != nil {
		request.OldObject = runtime.RawExtension{Raw: encodeLease(w.old)}
	}
	review := admissionv1.AdmissionReview{Request: request}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	raw, err := f.call(h, must(json.Marshal(review)))
	var answer admissionv1.AdmissionReview
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	switch {
	case err != nil && h.failure == admissionregistrationv1.Ignore:
		return nil, nil
	case err != nil:
		return nil, apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: %w", h.name, err))
	case !answer.Response.Allowed:
		return nil, denied(h, answer.Response.Result)
	}
	return answer.Response, nil
}

// denied is how kube-apiserver tells of a refusal.
func denied(h *hook, result *metav1.Status) error {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}
	if result != nil {
		status.Message, status.Reason = result.Message, result.Reason
		if result.Code != 0 {
			status.Code = result.Code
		}
	}
	status.Message = fmt.Sprintf("admission webhook %q denied the request: %s", h.name, status.Message)
	return &apierrors.StatusError{ErrStatus: status}
}

// IsDenied reports whether a webhook refused a write.
func IsDenied(err error) bool {
	var status *apierrors.StatusError
	return errors.As(err, &status) && status.ErrStatus.Code == http.StatusForbidden
}

func encodeLease(l *coordinationv1.Lease) []byte {
	c := *l
	c.APIVersion, c.Kind = coordinationv1.SchemeGroupVersion.String(), "Lease"
	return must(json.Marshal(&c))
}

func patchLease(l *coordinationv1.Lease, patch []byte) (*coordinationv1.Lease, error) {
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	raw, err := p.Apply(encodeLease(l))
	if err != nil {
		return nil, err
	}
	return decodeLease(raw)
}

func decodeLease(raw []byte) (*coordinationv1.Lease, error) {
	l := &coordinationv1.Lease{}
	return l, json.Unmarshal(raw, l)
}
