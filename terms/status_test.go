package terms

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

var leaseKey = types.NamespacedName{Namespace: "ns", Name: "lease"}

// policyOf governs ns/lease, with the Pods that have the label app=a and their
// version in the label version.
func policyOf(name string, strategy v1alpha1.StrategyName) *v1alpha1.ElectionPolicy {
	return &v1alpha1.ElectionPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Generation: 1},
		Spec: v1alpha1.ElectionPolicySpec{
			Leases:   v1alpha1.LeaseSelection{Names: []string{"lease"}},
			Strategy: v1alpha1.Strategy{Name: strategy},
			Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
				Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
				Version:  &v1alpha1.VersionSource{FromLabel: "version"},
			}},
		},
	}
}

func podOf(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "a", "version": version}},
		Spec:       corev1.PodSpec{NodeName: "node-" + name},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// look is a sighting of ns/lease among these objects at now.
func look(t *testing.T, now float64, lease *coordinationv1.Lease, terms []v1alpha1.Term, objects ...runtime.Object) *sighting {
	t.Helper()
	set := candidates.NewObjectSet()
	for _, o := range objects {
		set.Add(o)
	}
	g := set.Governing(leaseKey)
	if g.Policy == nil {
		t.Fatalf("no policy governs the lease: %v", set.Policies()[0].Errors)
	}
	view := candidates.Assemble(set, g, leaseKey, lease, at(now))
	decision := picker.Decide(view.Policy, &view.State)
	return &sighting{
		view: view, decision: &decision, lease: lease, terms: terms, stepping: (&situation{}).idle(),
		previous: &v1alpha1.ElectionStatus{}, now: at(now),
	}
}

func seen(lease *coordinationv1.Lease, now float64) []v1alpha1.Term {
	h := &history{}
	h.observe(lease, at(now))
	return h.terms
}

func TestStatus(t *testing.T) {
	lease := held("a-0_uuid", 0, 5)
	s := look(t, 6, lease, seen(lease, 6), policyOf("p", v1alpha1.OldestEmulationVersion),
		podOf("a-0", "v1.37.0"), podOf("a-1", "v1.36.0"), podOf("a-2", "latest"))
	s.terms = []v1alpha1.Term{*s.describe(true)}
	got := s.status()

	since := metav1.NewTime(at(0))
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(at(6))}
	}
	want := v1alpha1.ElectionStatus{
		Policy: "ElectionPolicy/p", Strategy: v1alpha1.OldestEmulationVersion, Mode: v1alpha1.Enforce,
		Holder: &v1alpha1.ElectionHolder{Name: "a-0", Identity: "a-0_uuid", Since: &since},
		Chosen: "a-1", Criterion: "OldestEmulationVersion", Eligible: "2/3",
		Candidates: []v1alpha1.CandidateVerdict{
			{Name: "a-1", Sources: []string{"Pod"}, Node: "node-a-1", Version: "v1.36.0", Eligible: true, Scores: []string{"v1.36.0", "v1.36.0"}},
			{Name: "a-0", Sources: []string{"Pod"}, Node: "node-a-0", Version: "v1.37.0", Eligible: true, Scores: []string{"v1.37.0", "v1.37.0"}},
			{Name: "a-2", Sources: []string{"Pod"}, Node: "node-a-2", Version: "latest", Reason: got.Candidates[2].Reason},
		},
		Terms: []v1alpha1.Term{{Holder: "a-0", Identity: "a-0_uuid", Version: "v1.37.0", Start: since}},
		Conditions: []metav1.Condition{
			condition("Ready", "True", "Governed", "ElectionPolicy ns/p governs the Lease"),
			condition("PolicyConflict", "False", "OnePolicy", "no other policy selects the Lease"),
			condition("NoEligibleCandidate", "False", "SomeEligible", "a candidate is eligible"),
			condition("HolderNotChosen", "True", "OtherChosen", "a-0 holds the Lease, a-1 is chosen by OldestEmulationVersion"),
			condition("SteppingDown", "False", "NotAsked", "nobody was told to step down"),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(got.Candidates[2].Reason, "ValidVersion: ") {
		t.Errorf("reason is %q", got.Candidates[2].Reason)
	}
}

func TestConditions(t *testing.T) {
	oldest := policyOf("p", v1alpha1.OldestEmulationVersion)
	dryRun := policyOf("p", v1alpha1.OldestEmulationVersion)
	dryRun.Spec.Mode = v1alpha1.DryRun
	later := policyOf("q", v1alpha1.OldestEmulationVersion)
	cluster := &v1alpha1.ClusterElectionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	cluster.Spec.ElectionPolicySpec = *oldest.Spec.DeepCopy()

	vacant, byOld, byNew, byStranger := held("", 0, 0), held("old_1", 0, 5), held("new_1", 0, 5), held("stranger", 0, 5)
	older, newer, broken := podOf("old", "v1.36.0"), podOf("new", "v1.37.0"), podOf("broken", "latest")
	tests := []struct {
		name    string
		lease   *coordinationv1.Lease
		objects []runtime.Object
		want    string // the reasons of those that are true, in order; Ready first
	}{
		{"the chosen one leads", byOld, []runtime.Object{oldest, older, newer}, "Ready=Governed"},
		{"another one leads", byNew, []runtime.Object{oldest, older, newer}, "Ready=Governed HolderNotChosen=OtherChosen"},
		{"a stranger leads", byStranger, []runtime.Object{oldest, older}, "Ready=Governed HolderNotChosen=HolderUnknown"},
		{"an ineligible one leads", held("broken", 0, 5), []runtime.Object{oldest, older, broken}, "Ready=Governed HolderNotChosen=HolderIneligible"},
		{"nobody leads", vacant, []runtime.Object{oldest, older}, "Ready=Governed"},
		{"dry run", byOld, []runtime.Object{dryRun, older}, "Ready=DryRun"},
		{"first come", byNew, []runtime.Object{policyOf("p", v1alpha1.FirstCome), older, newer}, "Ready=Governed"},
		{"no candidate", vacant, []runtime.Object{oldest}, "NoEligibleCandidate=NoCandidate"},
		{"none eligible", byOld, []runtime.Object{oldest, broken}, "NoEligibleCandidate=AllFiltered"},
		{"deleted", nil, []runtime.Object{oldest, older}, ""},
		{"two policies", vacant, []runtime.Object{oldest, later, older}, "Ready=Governed PolicyConflict=SeveralPolicies"},
		{"two kinds of policies", vacant, []runtime.Object{cluster, oldest, older}, "Ready=Governed PolicyConflict=SeveralPolicies"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var terms []v1alpha1.Term
			if tt.lease != nil {
				terms = seen(tt.lease, 6)
			}
			s := look(t, 6, tt.lease, terms, tt.objects...)
			if d := s.describe(false); d != nil {
				s.terms = []v1alpha1.Term{*d}
			}
			var got []string
			for _, c := range s.status().Conditions {
				if c.Status == metav1.ConditionTrue {
					got = append(got, c.Type+"="+c.Reason)
				}
				if c.Message == "" {
					t.Errorf("%s has no message", c.Type)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("true are %q, want %q", got, tt.want)
			}
		})
	}
}

func TestConditionNamesPolicies(t *testing.T) {
	s := look(t, 0, held("", 0, 0), nil, policyOf("p", v1alpha1.FirstCome), policyOf("r", v1alpha1.FirstCome), policyOf("q", v1alpha1.FirstCome))
	status := s.status()
	got := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPolicyConflict).Message
	want := "ElectionPolicy ns/p governs the Lease, which these select, too: ElectionPolicy ns/q, ElectionPolicy ns/r"
	if got != want {
		t.Errorf("message is %q, want %q", got, want)
	}
}

// The status of a Lease that was only renewed is the same, byte for byte, so
// that nothing is written.
func TestStatusDoesNotChangeWithARenewal(t *testing.T) {
	objects := []runtime.Object{policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a", "v1.36.0"), podOf("b", "v1.37.0"), podOf("c", "x")}
	h := &history{}
	previous := &v1alpha1.ElectionStatus{}
	var first []byte
	for _, now := range []float64{1, 3, 5, 7000} {
		lease := held("a", 0, now)
		h.observe(lease, at(now))
		// The order in which objects arrive is chance.
		slices.Reverse(objects)
		s := look(t, now, lease, h.terms, objects...)
		s.previous = previous
		h.describe(s.describe(h.fresh))
		s.terms = h.terms
		status := s.status()
		raw, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = raw
		}
		if diff := cmp.Diff(string(first), string(raw)); diff != "" {
			t.Fatalf("at %g: %s", now, diff)
		}
		previous = &status
	}
}

func TestConditionKeepsItsTime(t *testing.T) {
	c := metav1.Condition{Type: "A", Status: metav1.ConditionTrue, Reason: "New"}
	previous := []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue, Reason: "Old", LastTransitionTime: metav1.NewTime(at(1))}}
	if settle(&c, previous, at(9)); !c.LastTransitionTime.Time.Equal(at(1)) {
		t.Errorf("the time of a condition with another reason is %v", c.LastTransitionTime)
	}
	c.Status = metav1.ConditionFalse
	if settle(&c, previous, at(9)); !c.LastTransitionTime.Time.Equal(at(9)) {
		t.Errorf("the time of a condition that changed is %v", c.LastTransitionTime)
	}
}

// A status must be small enough to store, whatever candidates and expressions
// say, and still show who leads.
func TestStatusIsBounded(t *testing.T) {
	policy := policyOf("p", v1alpha1.Custom)
	policy.Spec.Strategy.Filters = []v1alpha1.FilterEntry{{CEL: "candidate.name != 'a-0999'"}}
	objects := []runtime.Object{policy}
	for i := range 1000 {
		objects = append(objects, podOf(fmt.Sprintf("a-%04d", i), strings.Repeat("ü", 500)))
	}
	lease := held("a-0999", 0, 5)
	s := look(t, 6, lease, seen(lease, 6), objects...)
	s.terms = []v1alpha1.Term{*s.describe(true)}
	status := s.status()
	raw, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(status.Candidates); n != maxListedCandidates || len(raw) > 200_000 {
		t.Errorf("%d candidates in %d bytes", n, len(raw))
	}
	if status.Eligible != "999/1000" {
		t.Errorf("eligible is %s", status.Eligible)
	}
	if last := status.Candidates[maxListedCandidates-1].Name; last != "a-0999" {
		t.Errorf("the last candidate listed is %s, want the holder", last)
	}
}

func TestCriterionOfATerm(t *testing.T) {
	policy := policyOf("p", v1alpha1.OldestEmulationVersion)
	stamped := func(holder, elected, by string) *coordinationv1.Lease {
		l := held(holder, 0, 5)
		l.Annotations = map[string]string{
			v1alpha1.ElectedAnnotation: elected, v1alpha1.ElectedByAnnotation: by, v1alpha1.CriterionAnnotation: "OnlyCandidate",
		}
		return l
	}
	for _, tt := range []struct {
		name  string
		lease *coordinationv1.Lease
		fresh bool
		want  string
	}{
		{"chosen", held("old", 0, 5), true, "OldestEmulationVersion"},
		{"as stamped", stamped("old", "old", "ElectionPolicy ns/p"), true, "OnlyCandidate"},
		{"stamped under another policy", stamped("old", "old", "ElectionPolicy ns/q"), true, "OldestEmulationVersion"},
		{"stamped for the holder before", stamped("old", "new", "ElectionPolicy ns/p"), true, "OldestEmulationVersion"},
		{"not chosen any more", stamped("new", "new", "ElectionPolicy ns/p"), true, "OnlyCandidate"},
		{"not chosen, stamped for the holder before", stamped("new", "old", "ElectionPolicy ns/p"), true, ""},
		{"not chosen", held("new", 0, 5), true, ""},
		{"described before", held("old", 0, 5), false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := look(t, 6, tt.lease, seen(tt.lease, 6), policy, podOf("old", "v1.36.0"), podOf("new", "v1.37.0"))
			if got := s.describe(tt.fresh).Criterion; got != tt.want {
				t.Errorf("criterion is %q, want %q", got, tt.want)
			}
		})
	}
}
