package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// A token that is bound to a Pod acquires as that Pod and as no other.
func TestPodCannotAcquireAsAnother(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	policy := c.govern(v1alpha1.Strategy{Name: v1alpha1.FirstCome})
	c.idle("a", older, "node-1")
	c.idle("b", older, "node-2")
	a, user := c.as("a")

	const refuted = "holder identity b_1 claims Pod b, but its token is bound to Pod a"
	_, err := c.acquire(a, "b_1")
	g.Expect(err).To(And(MatchError(apierrors.IsForbidden, "forbidden"), MatchError(ContainSubstring(refuted))))
	c.ruledFor("b_1", user, ContainSubstring(refuted))
	c.ruled("b_1", Equal(allowed)) // no token proves that it is not
	lease, err := c.acquire(a, "a_1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.CoordinationV1().Leases(c.namespace).Delete(t.Context(), lease.Name, metav1.DeleteOptions{})).To(Succeed())

	c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.Candidates.VerifyIdentity = new(false) })
	c.ruledFor("b_1", user, Equal(allowed))
}

// as returns a client with a token that is bound to the Pod, and who the API
// server takes it for.
func (c *contest) as(pod string) (kubernetes.Interface, authenticationv1.UserInfo) {
	c.t.Helper()
	g := NewWithT(c.t)
	object, err := kube.CoreV1().Pods(c.namespace).Get(c.t.Context(), pod, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod, UID: object.UID},
	}}
	token, err := kube.CoreV1().ServiceAccounts(c.namespace).CreateToken(c.t.Context(), c.namespace, request, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	config := rest.AnonymousClientConfig(cluster.Config())
	config.BearerToken = token.Status.Token
	bound, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	review, err := bound.AuthenticationV1().SelfSubjectReviews().Create(c.t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return bound, review.Status.UserInfo
}

// acquire writes the Lease as an elector that finds none does.
func (c *contest) acquire(as kubernetes.Interface, identity string, change ...func(*coordinationv1.Lease)) (*coordinationv1.Lease, error) {
	lease := c.lease(identity)
	for _, f := range change {
		f(lease)
	}
	return as.CoordinationV1().Leases(c.namespace).Create(c.t.Context(), lease, metav1.CreateOptions{})
}
