package behaviour

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// person is somebody with a role in the contest's namespace and nowhere else.
func (c *contest) person(name string, role rbacv1.RoleRef) (ctrlclient.Client, kubernetes.Interface) {
	c.t.Helper()
	g := NewWithT(c.t)
	name = c.namespace + "-" + name
	role.APIGroup = rbacv1.GroupName
	g.Expect(client.Create(c.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}}, RoleRef: role,
	})).To(Succeed())
	config := rest.CopyConfig(cluster.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	scheme := newScheme()
	g.Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	typed, err := ctrlclient.New(config, ctrlclient.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	builtIn, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	return typed, builtIn
}

// mayGovern makes a role of somebody who has all rights on policies, Candidates
// and Leases of the contest's namespace.
func (c *contest) mayGovern() rbacv1.RoleRef {
	c.t.Helper()
	NewWithT(c.t).Expect(client.Create(c.t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "governor", Namespace: c.namespace},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"*"}},
			{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"*"}},
		},
	})).To(Succeed())
	return rbacv1.RoleRef{Kind: "Role", Name: "governor"}
}

// A holder that was told to step down does not get around that by leaving the
// order out of what it writes, by taking it back, or by making the Lease anew.
func TestHolderCannotStripItsOrder(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal), withoutPods)
	c.register("host-b", newer)
	c.ruled("host-b_1", Equal(allowed))
	_, err := c.acquire(kube, "host-b_1")
	g.Expect(err).NotTo(HaveOccurred())
	c.register("host-a", older)
	g.Eventually(c.order, soon, often).Should(Equal("host-b_1"))
	toldToGo := And(MatchError(apierrors.IsForbidden, "forbidden"), MatchError(ContainSubstring("host-b was told to step down: host-a is chosen")))

	leases := kube.CoordinationV1().Leases(c.namespace)
	renew := func(annotations map[string]string) error {
		lease := c.held()
		now := metav1.NowMicro()
		lease.Annotations, lease.Spec.RenewTime = annotations, &now
		_, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err
	}
	g.Eventually(func() error { return renew(c.held().Annotations) }, soon, often).Should(toldToGo)
	g.Expect(renew(nil)).To(toldToGo)
	g.Expect(renew(map[string]string{v1alpha1.StepDownAnnotation: "host-a_1"})).To(beForged(v1alpha1.StepDownAnnotation))
	g.Expect(c.patchAnnotation(v1alpha1.StepDownAnnotation, `null`)).To(beForged(v1alpha1.StepDownAnnotation))
	g.Expect(c.order()).To(Equal("host-b_1"))

	g.Expect(leases.Delete(t.Context(), c.namespace, metav1.DeleteOptions{})).To(Succeed())
	_, err = c.acquire(kube, "host-b_1")
	g.Expect(err).To(And(MatchError(apierrors.IsForbidden, "forbidden"), MatchError(ContainSubstring("host-a is chosen"))))
}

// Whoever may do everything of ours in one namespace does nothing in another.
func TestTenantReachesItsOwnNamespaceOnly(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	mine, other := newContest(t, quick), newContest(t, quick)
	tenant, builtIn := mine.person("tenant", mine.mayGovern())
	forbidden := MatchError(apierrors.IsForbidden, "forbidden")
	policy := func(namespace, name string, names ...string) *v1alpha1.ElectionPolicy {
		return &v1alpha1.ElectionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
			Spec:       v1alpha1.ElectionPolicySpec{Leases: v1alpha1.LeaseSelection{Names: names}, Strategy: byVersion},
		}
	}
	g.Expect(tenant.Create(t.Context(), policy(other.namespace, "theirs", "*"))).To(forbidden)
	g.Expect(tenant.Create(t.Context(), &v1alpha1.ClusterElectionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: mine.namespace},
		Spec:       v1alpha1.ClusterElectionPolicySpec{ElectionPolicySpec: policy("", "", "*").Spec},
	})).To(forbidden)
	for _, name := range []string{other.namespace + "/*", "../" + other.namespace + "/x", `x"] || true || "" in ["`, "*)|.*", "."} {
		g.Expect(tenant.Create(t.Context(), policy(mine.namespace, "odd", name))).To(MatchError(apierrors.IsInvalid, "invalid"), name)
	}
	g.Expect(tenant.Create(t.Context(), policy(mine.namespace, "everything", "*"))).To(Succeed())
	mine.registered()
	mine.ruled("anybody_1", ContainSubstring("is not a registered candidate"))
	live(t, other.namespace, mine.namespace)

	// A Candidate that names the Lease of another namespace is none there.
	other.govern(byVersion, patient, withoutPods)
	other.register("host-a", newer)
	intruder := &v1alpha1.Candidate{
		ObjectMeta: metav1.ObjectMeta{Name: "intruder", Namespace: mine.namespace},
		Spec:       v1alpha1.CandidateSpec{LeaseName: other.namespace, Hostname: "intruder", BinaryVersion: older},
	}
	g.Expect(tenant.Create(t.Context(), intruder)).To(Succeed())
	other.ruled("host-a_1", Equal(allowed))
	other.ruled("intruder_1", ContainSubstring("is not a registered candidate"))
	_, err := mine.acquire(builtIn, "intruder_1")
	g.Expect(err).To(forbidden)
	_, err = other.acquire(builtIn, "intruder_1")
	g.Expect(err).To(forbidden)
}

// Neither a component with rights on its Lease nor whoever may edit the namespace
// says who the candidates are.
func TestCandidatesAreNotForgedWithoutRights(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion, patient, withoutPods)
	registered := c.register("host-a", newer)
	forbidden := MatchError(apierrors.IsForbidden, "forbidden")
	for name, role := range map[string]rbacv1.RoleRef{
		"component": {Kind: "Role", Name: c.namespace}, "editor": {Kind: "ClusterRole", Name: "edit"},
	} {
		somebody, builtIn := c.person(name, role)
		forged := &v1alpha1.Candidate{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace},
			Spec:       v1alpha1.CandidateSpec{LeaseName: c.namespace, Hostname: name, BinaryVersion: older},
		}
		g.Expect(somebody.Create(t.Context(), forged)).To(forbidden)
		better := registered.DeepCopy()
		better.Spec.Hostname = name
		g.Expect(somebody.Update(t.Context(), better)).To(forbidden)
		g.Expect(somebody.Delete(t.Context(), better)).To(forbidden)
		election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Name: c.namespace, Namespace: c.namespace}}
		g.Expect(somebody.Status().Patch(t.Context(), election,
			ctrlclient.RawPatch("application/merge-patch+json", []byte(`{"status":{"chosen":"me"}}`)))).To(forbidden)
		if name == "component" { // which may write its Lease, and has to be turned away by us
			_, err := c.acquire(builtIn, name+"_1")
			g.Expect(err).To(And(forbidden, MatchError(ContainSubstring("is not a registered candidate"))))
		}
	}
}

// Annotations up to the last byte that the API server takes keep nobody from a
// Lease that would have got it without us.
func TestLeaseFullOfAnnotationsIsAcquired(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion, withoutPods)
	c.register("host-a", older)
	c.ruled("host-a_1", Equal(allowed))
	filler := strings.Repeat("x", validation.TotalAnnotationSizeLimitB-len("filler"))
	lease, err := c.acquire(kube, "host-a_1", annotate("filler", filler))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lease.Annotations).To(HaveLen(1), "there is no room for stamps")
	c.compete("host-a_1")
	c.awaitRenewals(3)
	g.Expect(c.holder()).To(Equal("host-a"))
	_, err = c.acquire(kube, "host-b_1", annotate("filler", filler))
	g.Expect(err).To(MatchError(apierrors.IsForbidden, "forbidden"))
}
