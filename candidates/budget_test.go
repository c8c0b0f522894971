package candidates

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// names are so many names of a length, all of them different.
func namesOf(n, length int, suffix string) func(*v1alpha1.ElectionPolicySpec) {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%0*d%s", length-len(suffix), i, suffix)
	}
	return leaseNames(all...)
}

// aged is a policy of a namespace that was created so many minutes after start.
func aged(namespace, name string, minutes int, mutate ...func(*v1alpha1.ElectionPolicySpec)) *v1alpha1.ElectionPolicy {
	p := electionPolicy(name, mutate...)
	p.Namespace, p.CreationTimestamp = namespace, metav1.NewTime(start.Add(time.Duration(minutes)*time.Minute))
	return p
}

// excess are the names of the policies that there is no room for.
func excess(policies ...*v1alpha1.ElectionPolicy) []string {
	var compiled []*Policy
	for _, p := range policies {
		compiled = append(compiled, CompilePolicy(p))
	}
	names := []string{}
	for ref := range Excess(compiled, "leasewarden-system") {
		names = append(names, ref.Namespace+"/"+ref.Name)
	}
	return names
}

// Whoever may write policies in one namespace does not use up what there is for
// all of them.
func TestNamespaceUsesUpItsOwnBudgetAlone(t *testing.T) {
	g := NewWithT(t)
	others := aged("other", "late", 99, leaseNames("web"))
	policies := []*v1alpha1.ElectionPolicy{others}
	for i := range 26 {
		policies = append(policies, aged("greedy", fmt.Sprintf("p-%02d", i), i, namesOf(100, 250, "")))
	}
	left := excess(policies...)
	g.Expect(left).To(HaveLen(25))
	g.Expect(left).NotTo(ContainElement("greedy/p-00"), "older ones come first")
	g.Expect(left).NotTo(ContainElement("other/late"))
}

func TestExcess(t *testing.T) {
	// Two of these are too much for one namespace.
	half := func(namespace, name string, minutes int, mutate ...func(*v1alpha1.ElectionPolicySpec)) *v1alpha1.ElectionPolicy {
		return aged(namespace, name, minutes, append(mutate, namesOf(70, 240, ""))...)
	}
	fail := func(s *v1alpha1.ElectionPolicySpec) { s.FailurePolicy = v1alpha1.Fail }
	dryRun := func(s *v1alpha1.ElectionPolicySpec) { s.Mode = v1alpha1.DryRun }
	disabled := func(s *v1alpha1.ElectionPolicySpec) { s.Mode = v1alpha1.Disabled }
	broken := func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Pods.Selector = metav1.LabelSelector{} }
	tests := map[string]struct {
		policies []*v1alpha1.ElectionPolicy
		want     []string
	}{
		"there is room":                           {[]*v1alpha1.ElectionPolicy{half("ns", "a", 0)}, nil},
		"there is none":                           {[]*v1alpha1.ElectionPolicy{half("ns", "a", 1), half("ns", "b", 0), half("ns", "c", 2)}, []string{"ns/a", "ns/c"}},
		"a smaller one finds room":                {[]*v1alpha1.ElectionPolicy{half("ns", "a", 0), half("ns", "b", 1), aged("ns", "c", 2)}, []string{"ns/b"}},
		"disabled and invalid ones take none":     {[]*v1alpha1.ElectionPolicy{half("ns", "a", 0, disabled), half("ns", "b", 1, broken), half("ns", "c", 2)}, nil},
		"with Fail, names are registered twice":   {[]*v1alpha1.ElectionPolicy{half("ns", "a", 0, fail)}, []string{"ns/a"}},
		"not in dry-run":                          {[]*v1alpha1.ElectionPolicy{half("ns", "a", 0, fail, dryRun)}, nil},
		"stars take more":                         {[]*v1alpha1.ElectionPolicy{aged("ns", "a", 0, namesOf(64, 240, "*"))}, []string{"ns/a"}},
		"what is never governed takes none":       {[]*v1alpha1.ElectionPolicy{half("leasewarden-system", "a", 0), half("leasewarden-system", "b", 1)}, nil},
		"of the same age, by name":                {[]*v1alpha1.ElectionPolicy{half("ns", "b", 0), half("ns", "a", 0)}, []string{"ns/b"}},
		"other namespaces have budgets of theirs": {[]*v1alpha1.ElectionPolicy{half("x", "a", 0), half("y", "a", 1)}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(excess(test.policies...)).To(ConsistOf(test.want)) })
	}
}

// Very many namespaces do not make the registration too large, either.
func TestBudgetOfAllNamespaces(t *testing.T) {
	g := NewWithT(t)
	var policies []*v1alpha1.ElectionPolicy
	for i := range 100 {
		policies = append(policies, aged(fmt.Sprintf("ns-%02d", i), "p", i, namesOf(100, 240, "")))
	}
	left := excess(policies...)
	g.Expect(left).To(HaveLen(100-NamespacesBudget/(100*250)), "of 25,000 bytes each")
	g.Expect(left).To(ContainElement("ns-99/p"))
	g.Expect(left).NotTo(ContainElement("ns-00/p"))
}

// An entry is needed for each selector of Namespaces, and not for each policy.
func TestBudgetOfClusterPolicies(t *testing.T) {
	compile := func(selector func(int) string) []*Policy {
		var all []*Policy
		for i := range 200 {
			all = append(all, CompileClusterPolicy(clusterPolicy(fmt.Sprintf("p-%03d", i), func(s *v1alpha1.ClusterElectionPolicySpec) {
				s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": selector(i)}}
			})))
		}
		return all
	}
	g := NewWithT(t)
	g.Expect(Excess(compile(func(int) string { return "one" }), "")).To(BeEmpty())
	each := Excess(compile(func(i int) string { return fmt.Sprint(i) }), "")
	g.Expect(200 - len(each)).To(BeNumerically("~", ClusterBudget/entryCost, 2))
	g.Expect(each[picker.PolicyRef{Kind: KindClusterElectionPolicy, Name: "p-199"}]).To(And(
		ContainSubstring("of the ClusterElectionPolicies take more than the 262144 bytes"), ContainSubstring("delete policies that are not needed")))
}

// What there is no room for governs nothing, and begins to once there is.
func TestPolicyBeyondTheBudgetGovernsNothing(t *testing.T) {
	g := NewWithT(t)
	s := NewPolicySet("")
	moved := map[string]string{}
	s.moved = func(_, now *Policy) { moved[now.Ref.Name] = now.Excess }
	large := namesOf(100, 250, "")
	first := s.Set(aged("ns", "first", 0, large))
	second := s.Set(aged("ns", "second", 1, large))
	g.Expect(first.Governs()).To(BeTrue())
	g.Expect(second.Governs()).To(BeFalse())
	g.Expect(second.Excess).To(ContainSubstring("policies of namespace ns take more than the 32768 bytes"))
	lease := strings.Repeat("0", 250)
	g.Expect(s.Governing("ns", nil, lease)).To(Equal(Governance{Policy: first}))
	g.Expect(moved).To(BeEmpty())

	s.Delete(first.Ref)
	g.Expect(moved).To(Equal(map[string]string{"second": ""}))
	g.Expect(s.Governing("ns", nil, lease).Policy.Ref).To(Equal(second.Ref))
	g.Expect(s.Get(second.Ref).Governs()).To(BeTrue())

	older := s.Set(aged("ns", "older", -1, large))
	g.Expect(moved["second"]).NotTo(BeEmpty(), "an older one comes first")
	g.Expect(s.Governing("ns", nil, lease)).To(Equal(Governance{Policy: older}))
	fewer := aged("ns", "older", -1, leaseNames("web"))
	fewer.Generation++
	s.Set(fewer)
	g.Expect(moved["second"]).To(BeEmpty())
	s.Delete(older.Ref)
	s.Delete(second.Ref)
	g.Expect(s.costs).To(BeEmpty())
	g.Expect([]int{s.total, s.excess}).To(Equal([]int{0, 0}))
}

// A Cache follows: also what only becomes governed because there is room now
// is watched, and told of.
func TestCacheGovernsWhatThereIsRoomFor(t *testing.T) {
	f, config := newFakeAPI(t)
	large := namesOf(100, 250, "")
	f.put(t, policies, aged("ns", "first", 0, large))
	f.put(t, policies, aged("ns", "second", 1, large, func(s *v1alpha1.ElectionPolicySpec) {
		s.Candidates.Pods.Selector.MatchLabels = map[string]string{"app": "second"}
	}))
	f.put(t, "v1/pods", webPod("second-1", func(p *corev1.Pod) { p.Labels["app"] = "second" }))
	c := startCache(t, config)
	key := types.NamespacedName{Namespace: "ns", Name: strings.Repeat("0", 250)}
	c.Track(key)
	touched := recordTouched(c)
	governor := func() string {
		if p := c.Governing(key).Policy; p != nil {
			return p.Ref.Name
		}
		return ""
	}
	eventually(t, governor).Should(Equal("first"))
	f.remove(policies, "ns", "first")
	eventually(t, governor).Should(Equal("second"))
	eventually(t, func() (int, error) {
		v, err := c.View(key, nil, start)
		if err != nil {
			return 0, err
		}
		return len(v.State.Candidates), nil
	}).Should(Equal(1))
	NewWithT(t).Expect(touched.get()).To(ContainElement(key))
}
