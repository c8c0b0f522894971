package webhook

import (
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// nobody is the holder of a Lease whose holderIdentity is absent.
const nobody = "<absent>"

// testLease makes a Lease. renewed is in seconds; annotations are pairs.
func testLease(holder string, renewed int, annotations ...string) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
	if holder != nobody {
		l.Spec.HolderIdentity = ptr.To(holder)
	}
	if renewed > 0 {
		l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Unix(int64(renewed), 0)))
	}
	for i := 0; i < len(annotations); i += 2 {
		metav1.SetMetaDataAnnotation(&l.ObjectMeta, annotations[i], annotations[i+1])
	}
	return l
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		name     string
		op       admissionv1.Operation
		old, new *coordinationv1.Lease
		want     Transition
	}{
		{"create with holder", admissionv1.Create, nil, testLease("a", 1), Acquire},
		{"create without holder", admissionv1.Create, nil, testLease(nobody, 0), Touch},
		{"create with empty holder", admissionv1.Create, nil, testLease("", 0), Touch},
		{"acquire after release", admissionv1.Update, testLease("", 1), testLease("a", 2), Acquire},
		{"acquire from absent", admissionv1.Update, testLease(nobody, 0), testLease("a", 2), Acquire},
		{"renew", admissionv1.Update, testLease("a", 1), testLease("a", 2), Renew},
		{"touch", admissionv1.Update, testLease("a", 1), testLease("a", 1, "k", "v"), Touch},
		{"touch of a vacant lease", admissionv1.Update, testLease("", 1), testLease(nobody, 2), Touch},
		{"takeover", admissionv1.Update, testLease("a", 1), testLease("b", 2), Takeover},
		{"takeover without renewal", admissionv1.Update, testLease("a", 1), testLease("b", 1), Takeover},
		{"release", admissionv1.Update, testLease("a", 1), testLease("", 2), Release},
		{"release by absence", admissionv1.Update, testLease("a", 1), testLease(nobody, 0), Release},
		{"delete", admissionv1.Delete, testLease("a", 1), nil, Delete},
		{"delete of a vacant lease", admissionv1.Delete, testLease("", 1), nil, Delete},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Classify(tc.op, tc.old, tc.new); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestProtectedChange(t *testing.T) {
	const (
		stamped  = "leasewarden.dev/strategy"
		stepDown = "leasewarden.dev/step-down"
	)
	for _, tc := range []struct {
		name     string
		old, new *coordinationv1.Lease
		want     string
	}{
		{"other annotation", testLease("a", 1), testLease("a", 1, "x", "y"), ""},
		{"prefix of another group", testLease("a", 1), testLease("a", 1, "leasewarden.dev.example/x", "y"), ""},
		{"kept", testLease("a", 1, stamped, "x"), testLease("a", 2, stamped, "x"), ""},
		{"stamped at creation", nil, testLease("a", 1, stamped, "x"), ""},
		{"stamped at acquire", testLease("", 1, stamped, "old"), testLease("a", 2, stamped, "x"), ""},
		{"stamps lost at takeover", testLease("a", 1, stamped, "old"), testLease("b", 2), ""},
		{"stamp added by a renewal", testLease("a", 1), testLease("a", 2, stamped, "x"), stamped},
		{"stamp changed by a renewal", testLease("a", 1, stamped, "x"), testLease("a", 2, stamped, "y"), stamped},
		{"stamp lost in a renewal", testLease("a", 1, stamped, "x"), testLease("a", 2), ""},
		{"stamp removed by a touch", testLease("a", 1, stamped, "x"), testLease("a", 1), stamped},
		{"stamp added by a touch", testLease("a", 1), testLease("a", 1, stamped, "x"), stamped},
		{"step-down lost in a renewal", testLease("a", 1, stepDown, "a"), testLease("a", 2), ""},
		{"step-down lost at takeover", testLease("a", 1, stepDown, "a"), testLease("b", 2), ""},
		{"step-down taken back by a touch", testLease("a", 1, stepDown, "a"), testLease("a", 1), stepDown},
		{"step-down changed by a renewal", testLease("a", 1, stepDown, "a"), testLease("a", 2, stepDown, "b"), stepDown},
		{"step-down changed at takeover", testLease("a", 1, stepDown, "a"), testLease("b", 2, stepDown, "b"), stepDown},
		{"step-down forged at creation", nil, testLease("a", 1, stepDown, "a"), stepDown},
		{"released with step-down taken back", testLease("a", 1, stepDown, "a"), testLease("", 2), ""},
		{"first by name", testLease("a", 1), testLease("a", 1, stamped, "x", stepDown, "y"), stepDown},
		{"one that is none of ours", testLease("a", 1), testLease("a", 1, "leasewarden.dev/a", "z"), ""},
		{"one that is none of ours lost at takeover", testLease("a", 1, "leasewarden.dev/a", "z"), testLease("b", 2), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			transition := Classify(admissionv1.Update, tc.old, tc.new)
			if got := protectedChange(transition, tc.old, tc.new); got != tc.want {
				t.Errorf("got %q, want %q (transition %s)", got, tc.want, transition)
			}
		})
	}
}
