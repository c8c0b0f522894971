package terms

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// fakeTrust publishes the CA that it is, and the one before while it rotates.
type fakeTrust struct {
	ca       string
	rotating bool
}

func (f *fakeTrust) Bundle(published []byte) ([]byte, time.Duration, error) {
	switch {
	case f.ca == "":
		return nil, 0, errors.New("no CA yet")
	case f.rotating && !strings.Contains(string(published), f.ca):
		return []byte(f.ca + string(published)), time.Hour, nil
	case f.rotating:
		return published, time.Hour, nil
	}
	return []byte(f.ca), 0, nil
}

type registrationFixture struct {
	*Registration
	trust  *fakeTrust
	writes int
	// refuse is what writes to configurations fail with.
	refuse error
}

func newRegistration(t *testing.T, objects ...client.Object) *registrationFixture {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), admissionregistrationv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	f := &registrationFixture{trust: &fakeTrust{ca: "ca1"}}
	objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leasewarden-system", UID: "namespace"}})
	count := func() error { f.writes++; return f.refuse }
	f.Registration = &Registration{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if err := count(); err != nil {
					return err
				}
				return c.Create(ctx, o, opts...)
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				if err := count(); err != nil {
					return err
				}
				return c.Update(ctx, o, opts...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				if err := count(); err != nil {
					return err
				}
				return c.Delete(ctx, o, opts...)
			},
		}).Build(),
		Namespace: "leasewarden-system",
		Endpoint:  Endpoint{URL: "https://localhost:9443/", ValidateLease: "/validate-lease", MutateLease: "/mutate-lease", ValidatePolicy: "/validate-policy"},
		Trust:     f.trust,
	}
	f.Namespaces = f.Client
	return f
}

func (f *registrationFixture) run(t *testing.T) ctrl.Result {
	t.Helper()
	result, err := f.Reconcile(logr.NewContext(t.Context(), logr.Discard()), ctrl.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (f *registrationFixture) validating(t *testing.T) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	var c admissionregistrationv1.ValidatingWebhookConfiguration
	if err := f.Client.Get(t.Context(), client.ObjectKey{Name: ConfigurationName}, &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

// mutating returns nil if there is none.
func (f *registrationFixture) mutating(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	var c admissionregistrationv1.MutatingWebhookConfiguration
	err := f.Client.Get(t.Context(), client.ObjectKey{Name: ConfigurationName}, &c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

func policySpec(mode v1alpha1.Mode, names ...string) v1alpha1.ElectionPolicySpec {
	return v1alpha1.ElectionPolicySpec{
		Leases: v1alpha1.LeaseSelection{Names: names}, Mode: mode, Strategy: v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion},
	}
}

func policy(namespace, name string, mode v1alpha1.Mode, leases ...string) *v1alpha1.ElectionPolicy {
	return &v1alpha1.ElectionPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1}, Spec: policySpec(mode, leases...),
	}
}

func clusterPolicy(name string, selector *metav1.LabelSelector, leases ...string) *v1alpha1.ClusterElectionPolicy {
	return &v1alpha1.ClusterElectionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec:       v1alpha1.ClusterElectionPolicySpec{ElectionPolicySpec: policySpec(v1alpha1.Enforce, leases...), NamespaceSelector: selector},
	}
}

func names(c *admissionregistrationv1.ValidatingWebhookConfiguration) []string {
	var all []string
	for _, w := range c.Webhooks {
		all = append(all, w.Name)
	}
	return all
}

func TestRegistrationFollowsPolicies(t *testing.T) {
	g := NewWithT(t)
	f := newRegistration(t)
	f.run(t)
	g.Expect(names(f.validating(t))).To(Equal([]string{"policies.leasewarden.dev"}))
	g.Expect(f.mutating(t)).To(BeNil())

	p := policy("kube-system", "control-plane", v1alpha1.Enforce, "kube-scheduler")
	g.Expect(f.Client.Create(t.Context(), p)).To(Succeed())
	f.run(t)
	validating, mutating := f.validating(t), f.mutating(t)
	g.Expect(names(validating)).To(Equal([]string{"policies.leasewarden.dev", "leases.leasewarden.dev"}))
	g.Expect(mutating.Webhooks).To(HaveLen(1))
	for _, url := range []*string{validating.Webhooks[1].ClientConfig.URL, mutating.Webhooks[0].ClientConfig.URL} {
		g.Expect(*url).To(HavePrefix("https://localhost:9443/"))
		g.Expect(*url).NotTo(ContainSubstring("//validate"))
	}
	for _, condition := range []string{validating.Webhooks[1].MatchConditions[0].Expression, mutating.Webhooks[0].MatchConditions[0].Expression} {
		matcher(t, condition)
		g.Expect(condition).To(ContainSubstring(`"kube-system/kube-scheduler"`))
	}

	p.Spec.Mode, p.Generation = v1alpha1.Disabled, 2
	g.Expect(f.Client.Update(t.Context(), p)).To(Succeed())
	f.run(t)
	g.Expect(names(f.validating(t))).To(Equal([]string{"policies.leasewarden.dev"}))
	g.Expect(f.mutating(t)).To(BeNil())

	p.Spec.Mode, p.Generation = v1alpha1.DryRun, 3
	g.Expect(f.Client.Update(t.Context(), p)).To(Succeed())
	f.run(t)
	g.Expect(f.mutating(t).Webhooks).To(HaveLen(1))

	g.Expect(f.Client.Delete(t.Context(), p)).To(Succeed())
	f.run(t)
	g.Expect(f.mutating(t)).To(BeNil())
}

func TestRegistrationWritesOnlyChanges(t *testing.T) {
	g := NewWithT(t)
	f := newRegistration(t, policy("kube-system", "control-plane", v1alpha1.Enforce, "kube-scheduler"), clusterPolicy("all", nil, "*"))
	f.run(t)
	g.Expect(f.writes).To(Equal(2))
	f.run(t)
	g.Expect(f.writes).To(Equal(2))

	validating := f.validating(t)
	validating.Labels["theirs"] = "kept"
	*validating.Webhooks[1].TimeoutSeconds = 30
	g.Expect(f.Client.Update(t.Context(), validating)).To(Succeed())
	f.writes = 0
	f.run(t)
	g.Expect(f.writes).To(Equal(1), "drift is repaired in one write")
	g.Expect(*f.validating(t).Webhooks[1].TimeoutSeconds).To(BeEquivalentTo(1))
	g.Expect(f.validating(t).Labels).To(HaveKeyWithValue("theirs", "kept"))
}

func TestRegistrationRotatesTheCA(t *testing.T) {
	g := NewWithT(t)
	f := newRegistration(t, policy("kube-system", "control-plane", v1alpha1.Enforce, "kube-scheduler"))
	f.trust.ca = ""
	_, err := f.Reconcile(logr.NewContext(t.Context(), logr.Discard()), ctrl.Request{})
	g.Expect(err).To(MatchError("no CA yet"))
	g.Expect(f.writes).To(BeZero(), "nothing is registered that cannot be called")

	f.trust.ca = "ca1"
	g.Expect(f.run(t).RequeueAfter).To(BeZero())
	f.trust.ca, f.trust.rotating = "ca2", true
	g.Expect(f.run(t).RequeueAfter).To(Equal(time.Hour))
	for _, w := range f.validating(t).Webhooks {
		g.Expect(string(w.ClientConfig.CABundle)).To(Equal("ca2ca1"))
	}
	g.Expect(string(f.mutating(t).Webhooks[0].ClientConfig.CABundle)).To(Equal("ca2ca1"))
	f.trust.rotating = false
	g.Expect(f.run(t).RequeueAfter).To(BeZero())
	g.Expect(string(f.mutating(t).Webhooks[0].ClientConfig.CABundle)).To(Equal("ca2"))
}

func TestRegistrationWaitsForItsCache(t *testing.T) {
	g := NewWithT(t)
	f := newRegistration(t)
	f.Client = interceptor.NewClient(f.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return apierrors.NewAlreadyExists(admissionregistrationv1.Resource("validatingwebhookconfigurations"), ConfigurationName)
		},
	})
	g.Expect(f.run(t).RequeueAfter).To(Equal(outdatedRetry))
}

// Both configurations go with the Namespace, also with one that was made anew.
func TestNamespaceOwnsTheConfigurations(t *testing.T) {
	g := NewWithT(t)
	f := newRegistration(t, policy("kube-system", "a", v1alpha1.Enforce, "x"))
	owners := func() [2][]metav1.OwnerReference {
		f.run(t)
		return [2][]metav1.OwnerReference{f.validating(t).OwnerReferences, f.mutating(t).OwnerReferences}
	}
	owner := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "leasewarden-system", UID: "namespace"}}
	g.Expect(owners()).To(Equal([2][]metav1.OwnerReference{owner, owner}))

	stray := f.validating(t)
	stray.OwnerReferences = nil
	g.Expect(f.Client.Update(t.Context(), stray)).To(Succeed())
	g.Expect(owners()).To(Equal([2][]metav1.OwnerReference{owner, owner}))

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leasewarden-system"}}
	g.Expect(f.Client.Delete(t.Context(), namespace)).To(Succeed())
	_, err := f.Reconcile(t.Context(), ctrl.Request{})
	g.Expect(err).To(MatchError(ContainSubstring("reading Namespace leasewarden-system")))
	namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leasewarden-system", UID: "anew"}}
	g.Expect(f.Client.Create(t.Context(), namespace)).To(Succeed())
	owner[0].UID = "anew"
	g.Expect(owners()).To(Equal([2][]metav1.OwnerReference{owner, owner}))
}

func TestEntriesByScope(t *testing.T) {
	team := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"team": name}}
	}
	g := NewWithT(t)
	broken := policy("broken", "b", v1alpha1.Enforce, "x")
	broken.Spec.Strategy = v1alpha1.Strategy{Name: "Nope"}
	f := newRegistration(t,
		policy("kube-system", "a", v1alpha1.Enforce, "kube-scheduler"),
		policy("prod", "b", v1alpha1.DryRun, "op-*"),
		policy("off", "c", v1alpha1.Disabled, "x"),
		policy("leasewarden-system", "own", v1alpha1.Enforce, "x"),
		policy("kube-node-lease", "nodes", v1alpha1.Enforce, "*"),
		broken,
		clusterPolicy("all", nil, "a", "b"),
		clusterPolicy("all-too", &metav1.LabelSelector{}, "b", "c*"),
		clusterPolicy("team", team("x"), "d"),
	)
	f.run(t)
	c := f.validating(t)
	g.Expect(names(c)).To(Equal([]string{
		"policies.leasewarden.dev", "leases.leasewarden.dev", "cluster-leases.leasewarden.dev", "cluster-leases-2.leasewarden.dev",
	}))
	governs := func(entry int, namespace, name, team string) bool {
		w := c.Webhooks[entry]
		selector, err := metav1.LabelSelectorAsSelector(w.NamespaceSelector)
		g.Expect(err).NotTo(HaveOccurred())
		if !selector.Matches(labels.Set{"kubernetes.io/metadata.name": namespace, "team": team}) {
			return false
		}
		l := lease("holder")
		l.Namespace, l.Name = namespace, name
		return matches(t, matcher(t, w.MatchConditions[0].Expression), nil, l)
	}
	for _, tc := range []struct {
		namespace, name, team string
		want                  []int
	}{
		{"kube-system", "kube-scheduler", "", []int{1}},
		{"prod", "op-1", "", []int{1}},
		{"prod", "kube-scheduler", "", nil},
		{"kube-system", "op-1", "", nil},
		{"off", "x", "", nil},
		{"broken", "x", "", nil},
		{"leasewarden-system", "x", "", nil},
		{"leasewarden-system", "a", "", nil},
		{"kube-node-lease", "a", "", nil},
		{"anywhere", "a", "", []int{3}},
		{"anywhere", "cde", "", []int{3}},
		{"anywhere", "d", "", nil},
		{"anywhere", "d", "x", []int{2}},
	} {
		var got []int
		for entry := 1; entry < len(c.Webhooks); entry++ {
			if governs(entry, tc.namespace, tc.name, tc.team) {
				got = append(got, entry)
			}
		}
		g.Expect(got).To(Equal(tc.want), "%s/%s, team %q", tc.namespace, tc.name, tc.team)
	}
}

// A Lease that policies of both kinds select is sent once.
func TestNamespacedPolicyHidesLeaseFromClusterEntries(t *testing.T) {
	g := NewWithT(t)
	f := newRegistration(t, policy("prod", "a", v1alpha1.Enforce, "op-*"), clusterPolicy("all", nil, "*"))
	f.run(t)
	w := f.validating(t).Webhooks
	l := lease("holder")
	for name, want := range map[string]int{"prod/op-1": 1, "prod/other": 2, "test/op-1": 2} {
		l.Namespace, l.Name, _ = strings.Cut(name, "/")
		for entry := 1; entry <= 2; entry++ {
			g.Expect(matches(t, matcher(t, w[entry].MatchConditions[0].Expression), nil, l)).To(Equal(entry == want), "%s, entry %d", name, entry)
		}
	}
}

// While we cannot be asked, the failure policy Fail refuses acquire attempts,
// and never a renewal, nor anything for a policy that enforces nothing.
func TestFailurePolicyIsForAcquireAttemptsOnly(t *testing.T) {
	g := NewWithT(t)
	fail := func(p *v1alpha1.ElectionPolicy) *v1alpha1.ElectionPolicy {
		p.Spec.FailurePolicy = v1alpha1.Fail
		return p
	}
	cluster := clusterPolicy("all", nil, "*")
	cluster.Spec.FailurePolicy = v1alpha1.Fail
	f := newRegistration(t, cluster,
		fail(policy("prod", "strict", v1alpha1.Enforce, "strict")),
		fail(policy("prod", "watched", v1alpha1.DryRun, "watched")),
		policy("prod", "lenient", v1alpha1.Enforce, "lenient"),
	)
	f.run(t)
	for _, w := range f.mutating(t).Webhooks {
		g.Expect(*w.FailurePolicy).To(Equal(admissionregistrationv1.Ignore), w.Name)
	}
	vacant, stepping, renewed := lease(""), lease("a"), lease("a")
	stepping.Annotations = map[string]string{v1alpha1.StepDownAnnotation: "a"}
	renewed.Spec.RenewTime = &metav1.MicroTime{}
	for _, tc := range []struct {
		name     string
		old, new *coordinationv1.Lease
		want     admissionregistrationv1.FailurePolicyType
	}{
		{"prod/strict", vacant, lease("a"), admissionregistrationv1.Fail},
		{"prod/strict", stepping, renewed, admissionregistrationv1.Ignore},
		{"prod/watched", vacant, lease("a"), admissionregistrationv1.Ignore},
		{"prod/lenient", vacant, lease("a"), admissionregistrationv1.Ignore},
		{"elsewhere/x", vacant, lease("a"), admissionregistrationv1.Fail},
		{"elsewhere/x", stepping, renewed, admissionregistrationv1.Ignore},
	} {
		tc.new.Namespace, tc.new.Name, _ = strings.Cut(tc.name, "/")
		var got []admissionregistrationv1.FailurePolicyType
		for _, w := range f.validating(t).Webhooks[1:] {
			selector, err := metav1.LabelSelectorAsSelector(w.NamespaceSelector)
			g.Expect(err).NotTo(HaveOccurred())
			if selector.Matches(labels.Set{"kubernetes.io/metadata.name": tc.new.Namespace}) &&
				matches(t, matcher(t, w.MatchConditions[0].Expression), tc.old, tc.new) {
				got = append(got, *w.FailurePolicy)
			}
		}
		g.Expect(got).To(Equal([]admissionregistrationv1.FailurePolicyType{tc.want}), "%s, from %q", tc.name, holderIdentity(tc.old))
	}
}

func TestFiveHundredPolicies(t *testing.T) {
	g := NewWithT(t)
	var objects []client.Object
	for i := range 500 {
		objects = append(objects, policy(fmt.Sprintf("namespace-%03d", i), "policy", v1alpha1.Enforce, "controller-manager", "operator-*", "other-component-lock"))
	}
	f := newRegistration(t, objects...)
	f.run(t)
	c := f.validating(t)
	size := 0
	for _, w := range c.Webhooks[1:] {
		matcher(t, w.MatchConditions[0].Expression)
		size += len(w.MatchConditions[0].Expression)
	}
	g.Expect(len(c.Webhooks)).To(BeNumerically("<", 5))
	g.Expect(size).To(BeNumerically("<", 200_000))
}

func TestEndpoint(t *testing.T) {
	for _, tc := range []struct {
		endpoint Endpoint
		problem  string
	}{
		{Endpoint{URL: "https://localhost:9443"}, ""},
		{Endpoint{URL: "https://[::1]:9443/"}, ""},
		{Endpoint{Namespace: "a", Service: "b"}, ""},
		{Endpoint{}, "namespace and a name"},
		{Endpoint{URL: "http://localhost"}, "https://"},
		{Endpoint{URL: "localhost:9443"}, "https://"},
		{Endpoint{URL: "https://:9443"}, "https://"},
		{Endpoint{URL: "https://u@localhost"}, "user"},
		{Endpoint{URL: "https://localhost?x"}, "query"},
		{Endpoint{URL: "https://localhost/path"}, "path"},
	} {
		err := tc.endpoint.Validate()
		if (err == nil) != (tc.problem == "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%+v: got %v, want %q", tc.endpoint, err, tc.problem)
		}
	}
	service := Endpoint{Namespace: "a", Service: "b"}.client("/p", []byte("ca"))
	if s := service.Service; s == nil || s.Namespace != "a" || s.Name != "b" || *s.Path != "/p" || *s.Port != 443 || service.URL != nil {
		t.Errorf("got %+v", service)
	}
}
