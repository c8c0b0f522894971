package candidates

import (
	"fmt"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func TestGoverning(t *testing.T) {
	older := func(p *v1alpha1.ElectionPolicy) *v1alpha1.ElectionPolicy {
		p.CreationTimestamp = metav1.NewTime(start.Add(-time.Hour))
		return p
	}
	disabled := func(s *v1alpha1.ElectionPolicySpec) { s.Mode = v1alpha1.Disabled }
	broken := func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Pods.Selector = metav1.LabelSelector{} }
	inTeam := func(s *v1alpha1.ClusterElectionPolicySpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	}
	namespaced := func(name string) picker.PolicyRef {
		return picker.PolicyRef{Kind: KindElectionPolicy, Namespace: "ns", Name: name}
	}
	cluster := func(name string) picker.PolicyRef {
		return picker.PolicyRef{Kind: KindClusterElectionPolicy, Name: name}
	}
	tests := []struct {
		name      string
		policies  []*v1alpha1.ElectionPolicy
		clusters  []*v1alpha1.ClusterElectionPolicy
		namespace string
		labels    map[string]string
		lease     string
		want      picker.PolicyRef
		overruled []picker.PolicyRef
	}{
		{name: "none"},
		{name: "its own namespace", policies: []*v1alpha1.ElectionPolicy{electionPolicy("p")}, want: namespaced("p")},
		{name: "another namespace", policies: []*v1alpha1.ElectionPolicy{electionPolicy("p")}, namespace: "other"},
		{name: "another lease", policies: []*v1alpha1.ElectionPolicy{electionPolicy("p")}, lease: "web-2"},
		{name: "glob", policies: []*v1alpha1.ElectionPolicy{electionPolicy("p", leaseNames("*-web-*", "w*b"))}, want: namespaced("p")},
		{name: "glob and exact of one policy", policies: []*v1alpha1.ElectionPolicy{electionPolicy("p", leaseNames("web", "w*"))}, want: namespaced("p")},
		{name: "namespaced before cluster", policies: []*v1alpha1.ElectionPolicy{electionPolicy("p")},
			clusters: []*v1alpha1.ClusterElectionPolicy{clusterPolicy("a")}, want: namespaced("p"), overruled: []picker.PolicyRef{cluster("a")}},
		{name: "older before name", policies: []*v1alpha1.ElectionPolicy{electionPolicy("a"), older(electionPolicy("b"))},
			want: namespaced("b"), overruled: []picker.PolicyRef{namespaced("a")}},
		{name: "name at last", policies: []*v1alpha1.ElectionPolicy{electionPolicy("b"), electionPolicy("a", leaseNames("*"))},
			want: namespaced("a"), overruled: []picker.PolicyRef{namespaced("b")}},
		{name: "disabled ones do not govern or overrule", policies: []*v1alpha1.ElectionPolicy{electionPolicy("a", disabled), electionPolicy("b")}, want: namespaced("b")},
		{name: "invalid ones neither", policies: []*v1alpha1.ElectionPolicy{electionPolicy("a", broken)},
			clusters: []*v1alpha1.ClusterElectionPolicy{clusterPolicy("c")}, want: cluster("c")},
		{name: "namespace selected", clusters: []*v1alpha1.ClusterElectionPolicy{clusterPolicy("c", inTeam)}, labels: map[string]string{"team": "a"}, want: cluster("c")},
		{name: "namespace not selected", clusters: []*v1alpha1.ClusterElectionPolicy{clusterPolicy("c", inTeam)}, labels: map[string]string{"team": "b"}},
		{name: "never the nodes' heartbeats", clusters: []*v1alpha1.ClusterElectionPolicy{clusterPolicy("c")}, namespace: NodeLeaseNamespace},
		{name: "never our own namespace", clusters: []*v1alpha1.ClusterElectionPolicy{clusterPolicy("c")}, namespace: "leasewarden"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			s := NewPolicySet("leasewarden")
			for _, p := range tc.policies {
				s.Set(p)
			}
			for _, p := range tc.clusters {
				s.SetCluster(p)
			}
			got := s.Governing(or(tc.namespace, "ns"), tc.labels, or(tc.lease, "web"))
			if tc.want == (picker.PolicyRef{}) {
				g.Expect(got.Policy).To(BeNil())
			} else {
				g.Expect(got.Policy).NotTo(BeNil())
				g.Expect(got.Policy.Ref).To(Equal(tc.want))
			}
			g.Expect(got.Overruled).To(Equal(tc.overruled))
		})
	}
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func TestPoliciesAreCompiledOncePerGeneration(t *testing.T) {
	g := NewWithT(t)
	s := NewPolicySet("")
	first := s.Set(electionPolicy("p"))
	status := electionPolicy("p")
	status.Status.Leases = 3
	g.Expect(s.Set(status)).To(BeIdenticalTo(first))

	next := electionPolicy("p", leaseNames("other"))
	next.Generation = 2
	g.Expect(s.Set(next)).NotTo(BeIdenticalTo(first))
	g.Expect(s.Governing("ns", nil, "web").Policy).To(BeNil())
	g.Expect(s.Governing("ns", nil, "other").Policy.Generation).To(Equal(int64(2)))

	again := electionPolicy("p")
	again.UID = "recreated"
	g.Expect(s.Set(again).UID).To(Equal(types.UID("recreated")))
	g.Expect(s.All()).To(HaveLen(1))
	s.Delete(picker.PolicyRef{Kind: KindElectionPolicy, Namespace: "ns", Name: "p"})
	g.Expect(s.All()).To(BeEmpty())
	g.Expect(s.Governing("ns", nil, "web").Policy).To(BeNil())
}

func TestPolicyErrorsNameTheirField(t *testing.T) {
	pods := func(mutate func(*v1alpha1.PodCandidates)) func(*v1alpha1.ElectionPolicySpec) {
		return func(s *v1alpha1.ElectionPolicySpec) { mutate(s.Candidates.Pods) }
	}
	tests := map[string]func(*v1alpha1.ElectionPolicySpec){
		"spec.leases.names":             leaseNames(),
		"spec.candidates.pods.selector": pods(func(p *v1alpha1.PodCandidates) { p.Selector = metav1.LabelSelector{} }),
		"spec.candidates.pods.identityPattern": pods(func(p *v1alpha1.PodCandidates) {
			p.IdentityPattern = "(?P<host>x)"
		}),
		"spec.candidates.pods.leaseName": pods(func(p *v1alpha1.PodCandidates) { p.LeaseName = &v1alpha1.FieldSource{} }),
		"spec.candidates.pods.version": pods(func(p *v1alpha1.PodCandidates) {
			p.Version = &v1alpha1.VersionSource{FromLabel: "a", FromAnnotation: "b"}
		}),
		"spec.strategy.name":       func(s *v1alpha1.ElectionPolicySpec) { s.Strategy.Name = "Nonsense" },
		"spec.preemption.when":     func(s *v1alpha1.ElectionPolicySpec) { s.Preemption.When = "Always" },
		"spec.preemption.method":   func(s *v1alpha1.ElectionPolicySpec) { s.Preemption.Method = "Kill" },
		"spec.preemption.minTerm":  func(s *v1alpha1.ElectionPolicySpec) { s.Preemption.MinTerm = &metav1.Duration{Duration: -1} },
		"spec.preemption.cooldown": func(s *v1alpha1.ElectionPolicySpec) { s.Preemption.Cooldown = &metav1.Duration{Duration: -1} },
		"spec.failover.container":  func(s *v1alpha1.ElectionPolicySpec) { s.Failover.Container = "Not a name" },
	}
	for field, mutate := range tests {
		t.Run(field, func(t *testing.T) {
			g := NewWithT(t)
			p := CompilePolicy(electionPolicy("p", mutate))
			g.Expect(p.Compiled).To(BeNil())
			g.Expect(p.Errors).To(HaveLen(1), "one fault is told once")
			g.Expect(p.Errors[0].Field).To(Equal(field))
		})
	}
	g := NewWithT(t)
	p := CompileClusterPolicy(clusterPolicy("p", func(s *v1alpha1.ClusterElectionPolicySpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
	}))
	g.Expect(p.Errors).To(HaveLen(1))
	g.Expect(p.Errors[0].Field).To(Equal("spec.namespaceSelector"))
}

func TestPatternNeedsItsGroupAndItsOwnBrackets(t *testing.T) {
	g := NewWithT(t)
	for _, bad := range []string{"(", "x)|(?:y", "[a-", "(?P<hostname>"} {
		_, err := compilePattern(bad)
		g.Expect(err).To(HaveOccurred(), bad)
	}
	p, err := compilePattern("(?P<hostname>a)?b")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.hostname("b")).To(BeEmpty())
	g.Expect(p.hostname("ab")).To(Equal("a"))
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "x", true}, {"a*", "a", true}, {"a*", "ba", false}, {"*a", "ba", true}, {"*a", "ab", false},
		{"a*b*c", "axxbyyc", true}, {"a*b*c", "acb", false}, {"a*a", "a", false}, {"a*a", "aa", true}, {"**", "x", true},
		{"*ab*ab", "ab", false}, {"*ab*ab", "abab", true}, {"a.b", "axb", false}, {"ab", "ab", true},
	}
	for _, tc := range tests {
		if got := glob(tc.pattern, tc.name); got != tc.want {
			t.Errorf("glob(%q, %q) = %v", tc.pattern, tc.name, got)
		}
	}
}

func TestDefaults(t *testing.T) {
	g := NewWithT(t)
	spec := CompilePolicy(electionPolicy("p")).Spec
	g.Expect(spec.Mode).To(Equal(v1alpha1.Enforce))
	g.Expect(*spec.Candidates.VerifyIdentity).To(BeTrue())
	g.Expect(spec.Candidates.Unregistered).To(Equal(v1alpha1.DenyUnregistered))
	g.Expect(spec.Candidates.Pods.Eligible).To(Equal(v1alpha1.EligibleRunning))
	g.Expect(spec.MaxPriorityDuration.Duration).To(Equal(DefaultMaxPriorityDuration))
	g.Expect(spec.Preemption).To(Equal(v1alpha1.Preemption{
		When: v1alpha1.PreemptNever, Method: v1alpha1.DenyRenewal,
		MinTerm: &metav1.Duration{Duration: DefaultMinTerm}, Cooldown: &metav1.Duration{Duration: DefaultCooldown},
	}))
	g.Expect(*spec.Failover.ReleaseOnTermination).To(BeTrue())
}

func TestEveryNamespaceHasItsNameAsALabel(t *testing.T) {
	g := NewWithT(t)
	g.Expect(namespaceLabels("a", nil)).To(Equal(map[string]string{corev1.LabelMetadataName: "a"}))
	s := NewPolicySet("")
	s.SetCluster(clusterPolicy("c", func(s *v1alpha1.ClusterElectionPolicySpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "a"}}
	}))
	g.Expect(s.Governing("a", namespaceLabels("a", map[string]string{"x": "y"}), "web").Policy).NotTo(BeNil())
}

// Finding the policy of a Lease must not depend on how many there are.
func BenchmarkGoverning(b *testing.B) {
	for _, policies := range []int{5, 500} {
		b.Run(fmt.Sprintf("%d policies", policies), func(b *testing.B) {
			s := NewPolicySet("")
			for i := range policies {
				p := electionPolicy(fmt.Sprintf("p-%d", i), leaseNames(fmt.Sprintf("lease-%d", i), fmt.Sprintf("glob-%d-*", i)))
				p.Namespace = fmt.Sprintf("ns-%d", i%50)
				s.Set(p)
			}
			s.SetCluster(clusterPolicy("c"))
			b.ReportAllocs()
			for b.Loop() {
				s.Governing("ns-3", nil, "lease-3")
			}
		})
	}
}

func TestExempts(t *testing.T) {
	g := NewWithT(t)
	p := electionPolicy("p")
	user := func(name string, groups ...string) *authenticationv1.UserInfo {
		return &authenticationv1.UserInfo{Username: name, Groups: groups}
	}
	g.Expect(CompilePolicy(p).Exempts(user("ann", "admins"))).To(BeFalse(), "nobody is exempt by default")
	p.Spec.Exempt = &v1alpha1.Exemption{Users: []string{"ann"}, Groups: []string{"admins"}}
	compiled := CompilePolicy(p)
	g.Expect(compiled.Exempts(user("ann"))).To(BeTrue())
	g.Expect(compiled.Exempts(user("bob", "others", "admins"))).To(BeTrue())
	g.Expect(compiled.Exempts(user("admins", "ann"))).To(BeFalse(), "a user is not a group")
}
