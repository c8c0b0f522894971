package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/leasewarden/leasewarden/candidates"
)

// reviewer answers one AdmissionRequest. An error that is an *invalidError
// blames the request; any other one means that we cannot say.
type reviewer func(*admissionv1.AdmissionRequest) (admission.Response, error)

// handler serves a reviewer over HTTP. What it cannot answer gets an HTTP
// status, not an AdmissionResponse: the API server takes the latter for a
// refusal, and the former for a webhook that failed, for which the failure
// policy is there.
type handler struct {
	decode  decoder
	review  reviewer
	room    *room
	metrics *Metrics
	log     logr.Logger
}

func newHandler(decode decoder, review reviewer, metrics *Metrics, log logr.Logger) *handler {
	return &handler{decode: decode, review: review, room: newRoom(), metrics: metrics, log: log}
}

// errBusy is returned for a review that there is no room for.
var errBusy = errors.New("more reviews are in hand than there is room for")

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.recover(w, r)
	response, err := h.rule(w, r)
	if err != nil {
		h.fail(w, err)
		return
	}
	h.answer(w, response)
}

// rule reads the review and says what to answer.
func (h *handler) rule(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionResponse, error) {
	leave, ok := h.room.take(r.Context(), r.ContentLength)
	if !ok {
		return nil, errBusy
	}
	defer leave()
	request, err := readReview(w, r, h.decode)
	if err != nil {
		return nil, err
	}
	response, err := h.review(request)
	if err == nil {
		err = response.Complete(admission.Request{AdmissionRequest: *request})
	}
	return &response.AdmissionResponse, err
}

func (h *handler) answer(w http.ResponseWriter, response *admissionv1.AdmissionResponse) {
	review := admissionv1.AdmissionReview{Response: response}
	review.SetGroupVersionKind(reviewKind)
	body, err := json.Marshal(review)
	if err != nil {
		h.fail(w, fmt.Errorf("encoding the answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(body); err != nil {
		h.log.V(1).Info("The API server did not wait for the answer", "error", err.Error())
	}
}

func (h *handler) fail(w http.ResponseWriter, err error) {
	var invalid *invalidError
	switch {
	case errors.As(err, &invalid):
		h.metrics.invalid.WithLabelValues(invalid.reason).Inc()
		h.log.V(1).Info("Refused a request that is no usable AdmissionReview", "error", phrase(err.Error()))
		http.Error(w, phrase(err.Error()), invalid.status)
		return
	case errors.Is(err, candidates.ErrNotSynced):
		h.metrics.failures.WithLabelValues(failureNotSynced).Inc()
	case errors.Is(err, errBusy):
		h.metrics.failures.WithLabelValues(failureBusy).Inc()
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	default:
		h.metrics.failures.WithLabelValues(failureInternal).Inc()
		h.log.Error(err, "Cannot rule, the failure policy decides")
	}
	http.Error(w, phrase(err.Error()), http.StatusInternalServerError)
}

// recover turns a panic into a failed review. The server would only drop the
// connection, and with it the other requests on it.
func (h *handler) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	h.metrics.failures.WithLabelValues(failurePanic).Inc()
	h.log.Error(fmt.Errorf("panic: %v", p), "Cannot rule, the failure policy decides", "path", r.URL.Path, "stack", string(debug.Stack()))
	http.Error(w, "internal error, see the log of leasewarden", http.StatusInternalServerError)
}
