package webhook

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	kjson "sigs.k8s.io/json"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// Policies checks policies when they are applied: what their schema cannot say,
// such as a CEL expression that does not compile.
type Policies struct {
	Metrics *Metrics
	Log     logr.Logger
}

// Validating refuses a policy that would not compile, with the path of the
// field.
func (p *Policies) Validating() http.Handler {
	return newHandler(decodeReview, reviewPolicy, p.Metrics, p.Log)
}

func reviewPolicy(request *admissionv1.AdmissionRequest) (admission.Response, error) {
	policy, err := compilePolicy(request)
	var unreadable *unreadableError
	switch {
	case errors.As(err, &unreadable):
		// Nobody could read it once it is stored, and with it the others.
		return admission.Denied(unreadable.Error()), nil
	case err != nil:
		return admission.Response{}, err
	}
	if len(policy.Errors) == 0 {
		return admission.Allowed(""), nil
	}
	kind := v1alpha1.GroupVersion.WithKind(policy.Ref.Kind).GroupKind()
	status := apierrors.NewInvalid(kind, policy.Ref.Name, policy.Errors).Status()
	response := admission.Denied("")
	response.Result = &status
	return response, nil
}

func compilePolicy(request *admissionv1.AdmissionRequest) (*candidates.Policy, error) {
	if request.Operation == admissionv1.Delete || len(request.Object.Raw) == 0 {
		return nil, malformed("the AdmissionReview has no object")
	}
	switch request.Kind {
	case policyKind(candidates.KindElectionPolicy):
		var p v1alpha1.ElectionPolicy
		if err := kjson.UnmarshalCaseSensitivePreserveInts(request.Object.Raw, &p); err != nil {
			return nil, &unreadableError{candidates.KindElectionPolicy, err}
		}
		return candidates.CompilePolicy(&p), nil
	case policyKind(candidates.KindClusterElectionPolicy):
		var p v1alpha1.ClusterElectionPolicy
		if err := kjson.UnmarshalCaseSensitivePreserveInts(request.Object.Raw, &p); err != nil {
			return nil, &unreadableError{candidates.KindClusterElectionPolicy, err}
		}
		return candidates.CompileClusterPolicy(&p), nil
	}
	return nil, invalid(http.StatusBadRequest, invalidResource, "want a policy of %s, got kind %s", v1alpha1.GroupVersion, quote(request.Kind.String()))
}

// unreadableError is a policy that does not fit its type, although it fits the
// schema that the API server has.
type unreadableError struct {
	kind string
	err  error
}

func (e *unreadableError) Error() string {
	return fmt.Sprintf("the %s cannot be read: %s", e.kind, phrase(e.err.Error()))
}

func policyKind(kind string) metav1.GroupVersionKind {
	return metav1.GroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
}
