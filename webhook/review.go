package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

const (
	// MaxReviewBytes bounds the body of a request. A Lease is a few hundred
	// bytes, and etcd takes objects of up to 1.5 MiB: old and new fit.
	MaxReviewBytes = 3 << 20
	// bodyTimeout bounds how long a body may take to arrive. The API server
	// waits 1 s for the answer to all of it.
	bodyTimeout = 5 * time.Second
)

var (
	reviewKind    = admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")
	leaseKind     = metav1.GroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	leaseResource = metav1.GroupVersionResource(coordinationv1.SchemeGroupVersion.WithResource("leases"))
)

// invalidError is a request that is no usable AdmissionReview.
type invalidError struct {
	status int
	reason string // label value
	text   string
}

func (e *invalidError) Error() string { return e.text }

func invalid(status int, reason, format string, args ...any) error {
	return &invalidError{status: status, reason: reason, text: fmt.Sprintf(format, args...)}
}

// decoder reads and checks the AdmissionReview in a body, of which it keeps
// nothing.
type decoder func(body []byte) (*admissionv1.AdmissionRequest, error)

// readReview reads and checks the AdmissionReview in a request.
func readReview(w http.ResponseWriter, r *http.Request, decode decoder) (*admissionv1.AdmissionRequest, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, invalid(http.StatusMethodNotAllowed, invalidMethod, "method %s is not allowed, use POST", quote(r.Method))
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, invalid(http.StatusUnsupportedMediaType, invalidContentType, "Content-Type must be application/json")
	}
	body := bodies.Get().(*bytes.Buffer)
	defer recycle(body)
	if err := readBody(w, r, body); err != nil {
		return nil, err
	}
	return decode(body.Bytes())
}

// bodies are buffers for bodies of ordinary size, which are used again.
var bodies = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// recycle has a buffer used again, unless it has become a large one.
func recycle(body *bytes.Buffer) {
	if body.Cap() <= smallReview {
		body.Reset()
		bodies.Put(body)
	}
}

func readBody(w http.ResponseWriter, r *http.Request, body *bytes.Buffer) error {
	// Not every ResponseWriter has deadlines; without one the limit on the size
	// remains.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, MaxReviewBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return invalid(http.StatusRequestEntityTooLarge, invalidTooLarge, "the AdmissionReview is larger than %d bytes", tooLarge.Limit)
	case err != nil:
		return invalid(http.StatusBadRequest, invalidMalformed, "reading the AdmissionReview: %v", err)
	}
	return nil
}

func decodeReview(body []byte) (*admissionv1.AdmissionRequest, error) {
	var review admissionv1.AdmissionReview
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &review); err != nil {
		return nil, malformed("decoding the AdmissionReview: %v", err)
	}
	return checkReview(&review.TypeMeta, review.Request)
}

// checkReview returns the request of an AdmissionReview that is one.
func checkReview(kind *metav1.TypeMeta, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionRequest, error) {
	switch {
	case kind.GroupVersionKind() != reviewKind:
		return nil, malformed("want %s, got kind %s of %s", reviewKind, quote(kind.Kind), quote(kind.APIVersion))
	case request == nil:
		return nil, malformed("the AdmissionReview has no request")
	case request.UID == "":
		return nil, malformed("the AdmissionReview's request has no uid")
	}
	return request, nil
}

func malformed(format string, args ...any) error {
	return invalid(http.StatusBadRequest, invalidMalformed, format, args...)
}

// decodeLeases returns the Lease as it was and as it shall be, nil for one that
// does not exist.
func decodeLeases(request *admissionv1.AdmissionRequest) (old, new *coordinationv1.Lease, err error) {
	if request.Resource != leaseResource || request.Kind != leaseKind || request.SubResource != "" {
		return nil, nil, invalid(http.StatusBadRequest, invalidResource, "want a Lease of %s, got kind %s of resource %s",
			coordinationv1.SchemeGroupVersion, quote(request.Kind.String()), quote(request.Resource.String()))
	}
	if old, err = decodeLease("oldObject", &request.OldObject, request.Operation != admissionv1.Create); err != nil {
		return nil, nil, err
	}
	if new, err = decodeLease("object", &request.Object, request.Operation != admissionv1.Delete); err != nil {
		return nil, nil, err
	}
	return old, new, nil
}

func decodeLease(field string, object *runtime.RawExtension, wanted bool) (*coordinationv1.Lease, error) {
	if !wanted {
		return nil, nil
	}
	if lease, ok := object.Object.(*coordinationv1.Lease); ok {
		return lease, nil
	}
	raw := object.Raw
	if len(raw) == 0 || string(raw) == "null" {
		return nil, malformed("the AdmissionReview has no %s", field)
	}
	var lease coordinationv1.Lease
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &lease); err != nil {
		return nil, malformed("decoding the Lease in %s: %v", field, err)
	}
	return &lease, nil
}
