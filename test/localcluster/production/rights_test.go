package production

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// The roles of manifests/default grant whatever Leasewarden does, and nothing
// that it never does.
func TestRolesAreWhatIsUsed(t *testing.T) {
	s := newSite(t, 1)
	s.stepsDown(t)
	s.evicts(t)
	s.releases(t)
	s.registers(t)
	s.governsTheCluster(t)
	s.replacesTheCA(t)
	s.forgets(t)

	g := NewWithT(t)
	granted := s.granted(t)
	g.Expect(len(granted)).To(BeNumerically(">", 40))
	g.Eventually(func() ([]string, error) {
		made, err := s.requests()
		var unused []string
		for _, r := range granted {
			if !slices.ContainsFunc(made, r.allows) {
				unused = append(unused, r.String())
			}
		}
		return unused, err
	}, soon, time.Second).Should(BeEmpty(), "rights that are granted and not used")
	made, err := s.requests()
	g.Expect(err).NotTo(HaveOccurred())
	for _, q := range made {
		g.Expect(q.forbidden).To(BeFalse(), "%s %s is not granted", q.verb, q.uri)
	}
}

// stepsDown has a holder make way for a better candidate, which then leads more
// than once in a row: Events count that.
func (s *site) stepsDown(t *testing.T) {
	s.govern(t, "moved", func(spec *v1alpha1.ElectionPolicySpec) { spec.Preemption.When = v1alpha1.PreemptForBetter })
	s.pod(t, "moved", "moved-new", "v2.0.0")
	s.hold(t, "moved", "moved-new_1")
	s.pod(t, "moved", "moved-old", "v1.0.0")
	NewWithT(t).Eventually(s.lease(t, "moved"), soon, often).Should(HaveField("Annotations", HaveKey(v1alpha1.StepDownAnnotation)))
	election := s.election(t, "moved")
	for _, term := range []string{"moved-old_1", "moved-old_2", "moved-old_3"} {
		s.hold(t, "moved", "")
		s.hold(t, "moved", term)
		NewWithT(t).Eventually(election, soon, often).Should(HaveField("Status.Holder", HaveValue(HaveField("Identity", term))))
	}
}

func (s *site) election(t *testing.T, name string) func() (*v1alpha1.Election, error) {
	return func() (*v1alpha1.Election, error) {
		e := &v1alpha1.Election{}
		return e, s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, e)
	}
}

func (s *site) evicts(t *testing.T) {
	s.govern(t, "evicted", func(spec *v1alpha1.ElectionPolicySpec) {
		spec.Preemption.When, spec.Preemption.Method = v1alpha1.PreemptForBetter, v1alpha1.Evict
	})
	s.pod(t, "evicted", "evicted-new", "v2.0.0")
	s.hold(t, "evicted", "evicted-new_1")
	s.pod(t, "evicted", "evicted-old", "v1.0.0")
	NewWithT(t).Eventually(func() bool {
		_, err := s.kube.CoreV1().Pods(namespace).Get(t.Context(), "evicted-new", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, soon, often).Should(BeTrue())
}

func (s *site) releases(t *testing.T) {
	s.govern(t, "released", func(*v1alpha1.ElectionPolicySpec) {})
	s.pod(t, "released", "released-0", "v1.0.0")
	s.hold(t, "released", "released-0_1")
	s.ends(t, "released-0")
	NewWithT(t).Eventually(s.lease(t, "released"), soon, often).Should(HaveField("Spec.HolderIdentity", HaveValue(BeEmpty())))
}

// registers has an identity that nobody knows registered, and one whose time is
// over removed.
func (s *site) registers(t *testing.T) {
	g := NewWithT(t)
	s.govern(t, "registered", func(spec *v1alpha1.ElectionPolicySpec) {
		spec.Candidates.Pods, spec.Candidates.Unregistered = nil, v1alpha1.RegisterUnregistered
		spec.Strategy.Name = v1alpha1.FirstCome
	})
	long := metav1.NewMicroTime(time.Now().Add(-time.Hour))
	g.Expect(s.client.Create(t.Context(), &v1alpha1.Candidate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "expired"},
		Spec:       v1alpha1.CandidateSpec{LeaseName: "registered", Identity: "expired_1", Origin: v1alpha1.OriginAttempt, RenewTime: &long, TTLSeconds: ptr.To[int32](1)},
	})).To(Succeed())
	g.Eventually(func() ([]v1alpha1.Candidate, error) {
		// By other names than that of the policy is ready, nobody would be asked.
		s.attempt(t, "registered", "stranger_1")
		list := &v1alpha1.CandidateList{}
		err := s.client.List(t.Context(), list, client.InNamespace(namespace))
		return list.Items, err
	}, soon, time.Second).Should(ConsistOf(HaveField("Spec.Identity", "stranger_1")))
}

// attempt has somebody try to acquire the Lease, and does not care.
func (s *site) attempt(t *testing.T, name, identity string) {
	leases := s.kube.CoordinationV1().Leases(namespace)
	_ = leases.Delete(t.Context(), name, metav1.DeleteOptions{})
	_, _ = leases.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &identity, LeaseDurationSeconds: ptr.To[int32](1), RenewTime: ptr.To(metav1.NowMicro())},
	}, metav1.CreateOptions{})
}

// governsTheCluster looks at what the other strategies look at.
func (s *site) governsTheCluster(t *testing.T) {
	g := NewWithT(t)
	p := &v1alpha1.ClusterElectionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "rollouts"}}
	p.Spec.Leases.Names = []string{"rolling"}
	p.Spec.Strategy.Name = v1alpha1.RolloutAware
	p.Spec.Candidates.Pods = podsOf("rolling")
	p.Spec.NamespaceSelector = &metav1.LabelSelector{}
	g.Expect(s.client.Create(t.Context(), p)).To(Succeed())
	g.Eventually(func() (*v1alpha1.ClusterElectionPolicy, error) {
		return p, s.client.Get(t.Context(), client.ObjectKeyFromObject(p), p)
	}, soon, often).Should(HaveField("Status.Conditions", Not(BeEmpty())))
}

// replacesTheCA has the CA made anew, once in the Secret that there is and once in
// one that was deleted.
func (s *site) replacesTheCA(t *testing.T) {
	g := NewWithT(t)
	secrets := s.kube.CoreV1().Secrets(installation.Namespace)
	read := func() (*corev1.Secret, error) { return secrets.Get(t.Context(), "leasewarden-ca", metav1.GetOptions{}) }
	secret, err := read()
	g.Expect(err).NotTo(HaveOccurred())
	was := secret.Data[corev1.TLSCertKey]
	secret.Data[corev1.TLSCertKey] = []byte("none")
	_, err = secrets.Update(t.Context(), secret, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(read, soon, often).Should(HaveField("Data", HaveKeyWithValue(corev1.TLSCertKey, And(Not(Equal([]byte("none"))), Not(Equal(was))))))
	g.Expect(secrets.Delete(t.Context(), secret.Name, metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(read, soon, often).Should(HaveField("UID", Not(Equal(secret.UID))))
}

// forgets has all policies go, and with them Elections and what is registered.
func (s *site) forgets(t *testing.T) {
	g := NewWithT(t)
	g.Expect(s.client.DeleteAllOf(t.Context(), &v1alpha1.ElectionPolicy{}, client.InNamespace(namespace))).To(Succeed())
	g.Expect(s.client.DeleteAllOf(t.Context(), &v1alpha1.ClusterElectionPolicy{})).To(Succeed())
	g.Eventually(func() ([]v1alpha1.Election, error) {
		list := &v1alpha1.ElectionList{}
		err := s.client.List(t.Context(), list)
		return list.Items, err
	}, soon, often).Should(BeEmpty())
	g.Eventually(func() bool {
		_, err := s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "leasewarden", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, soon, often).Should(BeTrue())
}
