package webhook

import (
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

// leaseReview is what a ruling depends on of an AdmissionReview for a Lease. It
// is decoded in one pass, with the Leases in it, and without what is the larger
// part of them: managed fields. A ruling takes hardly longer than to decode what
// it is about.
type leaseReview struct {
	metav1.TypeMeta `json:",inline"`
	Request         *leaseRequest `json:"request"`
}

type leaseRequest struct {
	UID         types.UID                   `json:"uid"`
	Kind        metav1.GroupVersionKind     `json:"kind"`
	Resource    metav1.GroupVersionResource `json:"resource"`
	SubResource string                      `json:"subResource"`
	Name        string                      `json:"name"`
	Namespace   string                      `json:"namespace"`
	Operation   admissionv1.Operation       `json:"operation"`
	UserInfo    authenticationv1.UserInfo   `json:"userInfo"`
	DryRun      *bool                       `json:"dryRun"`
	Object      *neededLease                `json:"object"`
	OldObject   *neededLease                `json:"oldObject"`
}

type neededLease struct {
	Metadata struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace"`
		UID             types.UID         `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Labels          map[string]string `json:"labels"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec coordinationv1.LeaseSpec `json:"spec"`
}

// decodeLeaseReview is decodeReview for Leases. Its request has decoded Leases.
// What does not fit is decoded as a whole, to say what is wrong with it.
func decodeLeaseReview(body []byte) (*admissionv1.AdmissionRequest, error) {
	var review leaseReview
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &review); err != nil || review.Request == nil {
		return decodeReview(body)
	}
	r := review.Request
	return checkReview(&review.TypeMeta, &admissionv1.AdmissionRequest{
		UID: r.UID, Kind: r.Kind, Resource: r.Resource, SubResource: r.SubResource, Name: r.Name, Namespace: r.Namespace,
		Operation: r.Operation, UserInfo: r.UserInfo, DryRun: r.DryRun, Object: r.Object.extension(), OldObject: r.OldObject.extension(),
	})
}

// extension is the Lease as part of a request, nothing if it is nil.
func (n *neededLease) extension() runtime.RawExtension {
	if n == nil {
		return runtime.RawExtension{}
	}
	m := &n.Metadata
	return runtime.RawExtension{Object: &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Labels: m.Labels, Annotations: m.Annotations,
		},
		Spec: n.Spec,
	}}
}
