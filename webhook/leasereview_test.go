package webhook

import (
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// What is decoded for a ruling is what is decoded otherwise, but for parts that
// no ruling depends on.
func TestDecodeLeaseReview(t *testing.T) {
	full := testLease("sched-a_1", 1, "a", "b")
	full.UID, full.ResourceVersion, full.Labels = "uid", "7", map[string]string{"c": "d"}
	full.Spec.Strategy, full.Spec.PreferredHolder = ptr.To(coordinationv1.OldestEmulationVersion), ptr.To("x")
	managed := full.DeepCopy()
	managed.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}}}
	withUser := review(admissionv1.Update, testLease("", 0), full)
	withUser.Request.UserInfo = authenticationv1.UserInfo{Username: "u", UID: "v", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
	withUser.Request.DryRun = ptr.To(true)
	for name, r := range map[string]*admissionv1.AdmissionReview{
		"create":         review(admissionv1.Create, nil, full),
		"update":         withUser,
		"delete":         review(admissionv1.Delete, full, nil),
		"managed fields": review(admissionv1.Update, managed, managed),
	} {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decodeLeaseReview(body)
			if err != nil {
				t.Fatal(err)
			}
			if got.Object.Raw != nil || got.OldObject.Raw != nil {
				t.Error("it was decoded as a whole")
			}
			want, err := decodeReview(body)
			if err != nil {
				t.Fatal(err)
			}
			gotOld, gotNew, err := decodeLeases(got)
			if err != nil {
				t.Fatal(err)
			}
			wantOld, wantNew, err := decodeLeases(want)
			if err != nil {
				t.Fatal(err)
			}
			if !sameLease(gotOld, wantOld) || !sameLease(gotNew, wantNew) {
				t.Errorf("got %v and %v, want %v and %v", gotOld, gotNew, wantOld, wantNew)
			}
			if got.UID != want.UID || got.Name != want.Name || got.Namespace != want.Namespace || got.Operation != want.Operation ||
				isDryRun(got) != isDryRun(want) || !apiequality.Semantic.DeepEqual(got.UserInfo, want.UserInfo) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func sameLease(got, want *coordinationv1.Lease) bool {
	if got == nil || want == nil {
		return got == want
	}
	want = want.DeepCopy()
	want.TypeMeta, want.ManagedFields, want.CreationTimestamp = metav1.TypeMeta{}, nil, metav1.Time{}
	return apiequality.Semantic.DeepEqual(got, want)
}
