package behaviour

import (
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// allowed is what rulings says of an attempt that is not refused.
const allowed = "allowed"

// rulings asks every replica of Leasewarden, one by one, what it would rule on
// an attempt of that identity if nobody held the Lease. The attempt is a dry
// run, and leaves no trace.
func (c *contest) rulings(identity string, user authenticationv1.UserInfo) ([]string, error) {
	acquired, err := json.Marshal(c.lease(identity))
	if err != nil {
		return nil, err
	}
	vacant, err := json.Marshal(c.lease(""))
	if err != nil {
		return nil, err
	}
	return c.ask(&admissionv1.AdmissionRequest{
		Operation: admissionv1.Update,
		UserInfo:  user,
		Object:    runtime.RawExtension{Raw: acquired},
		OldObject: runtime.RawExtension{Raw: vacant},
	})
}

// creations is rulings for an attempt to make the Lease anew.
func (c *contest) creations(identity string) ([]string, error) {
	created, err := json.Marshal(c.lease(identity))
	if err != nil {
		return nil, err
	}
	return c.ask(&admissionv1.AdmissionRequest{
		Operation: admissionv1.Create,
		UserInfo:  authenticationv1.UserInfo{Username: "somebody"},
		Object:    runtime.RawExtension{Raw: created},
	})
}

// ask asks every replica about a write to the contest's Lease.
func (c *contest) ask(request *admissionv1.AdmissionRequest) (all []string, err error) {
	request.UID, request.DryRun = uuid.NewUUID(), new(true)
	request.Kind = metav1.GroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
	request.Resource = metav1.GroupVersionResource(coordinationv1.SchemeGroupVersion.WithResource("leases"))
	request.Namespace, request.Name = c.namespace, c.namespace
	for _, replica := range warden.Replicas {
		response, err := replica.Review(c.t.Context(), request)
		switch {
		case err != nil:
			return nil, err
		case response.Allowed:
			all = append(all, allowed)
		default:
			all = append(all, response.Result.Message)
		}
	}
	return all, nil
}

// ruled waits until every replica rules so on an attempt of that identity.
func (c *contest) ruled(identity string, how OmegaMatcher) {
	c.t.Helper()
	c.ruledFor(identity, authenticationv1.UserInfo{Username: "somebody"}, how)
}

func (c *contest) ruledFor(identity string, user authenticationv1.UserInfo, how OmegaMatcher) {
	c.t.Helper()
	NewWithT(c.t).Eventually(func() ([]string, error) { return c.rulings(identity, user) }, soon, often).
		Should(And(HaveLen(2), HaveEach(how)), "every replica on %s", identity)
}

// lease is the contest's Lease as that identity acquires it.
func (c *contest) lease(identity string) *coordinationv1.Lease {
	now := metav1.NewMicroTime(time.Now())
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.namespace},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       &identity,
			LeaseDurationSeconds: new(int32(c.times.LeaseDuration.Seconds())),
			AcquireTime:          &now,
			RenewTime:            &now,
		},
	}
}
