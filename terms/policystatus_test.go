package terms

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

func TestPolicyStatus(t *testing.T) {
	invalid := policyOf("p", v1alpha1.Custom)
	invalid.Spec.Strategy.Scores = []v1alpha1.ScoreEntry{{Plugin: "Astrology"}}
	disabled := policyOf("p", v1alpha1.FirstCome)
	disabled.Spec.Mode = v1alpha1.Disabled
	valid := policyOf("p", v1alpha1.FirstCome)
	tooLarge := policyOf("p", v1alpha1.FirstCome)
	for i := range 250 {
		tooLarge.Spec.Leases.Names = append(tooLarge.Spec.Leases.Names, fmt.Sprintf("%0253d", i))
	}
	winner := picker.PolicyRef{Kind: candidates.KindElectionPolicy, Namespace: "ns", Name: "w"}
	var many []defeat
	for i := range 300 {
		many = append(many, defeat{lease: types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("lease-%03d", i)}, winner: winner})
	}
	tests := []struct {
		name    string
		policy  *v1alpha1.ElectionPolicy
		defeats []defeat
		problem string
		kind    string
		status  metav1.ConditionStatus
		reason  string
		message string // what it must hold
	}{
		{"in effect", valid, nil, "", v1alpha1.ConditionReady, "True", "InEffect", "in effect"},
		{"disabled", disabled, nil, "", v1alpha1.ConditionReady, "True", "Disabled", "governs nothing"},
		{"invalid", invalid, nil, "", v1alpha1.ConditionReady, "False", "Invalid", "spec.strategy.scores[0]"},
		{"not registered", valid, nil, "etcd is full", v1alpha1.ConditionReady, "False", "NotRegistered", "not in effect: etcd is full"},
		{"invalid, and not registered", invalid, nil, "not yet", v1alpha1.ConditionReady, "False", "Invalid", "spec.strategy.scores[0]"},
		{"too large", tooLarge, nil, "", v1alpha1.ConditionReady, "False", "NoRoom", "name fewer Leases"},
		{"unopposed", valid, nil, "", v1alpha1.ConditionPolicyConflict, "False", "Unopposed", "governed by it"},
		{"overruled", valid, many[:1], "", v1alpha1.ConditionPolicyConflict, "True", "Overruled", "lease ns/lease-000 is governed by ElectionPolicy ns/w"},
		{"overruled often", valid, many, "", v1alpha1.ConditionPolicyConflict, "True", "Overruled", "and 290 more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.policy.Generation = 7
			set := candidates.NewPolicySet("")
			policy := set.Set(tt.policy)
			got := policyStatus(policy, 3, tt.defeats, tt.problem, &v1alpha1.ElectionPolicyStatus{}, at(5))
			if got.ObservedGeneration != 7 || got.Leases != 3 {
				t.Errorf("generation %d, %d leases", got.ObservedGeneration, got.Leases)
			}
			c := meta.FindStatusCondition(got.Conditions, tt.kind)
			if c == nil || c.Status != tt.status || c.Reason != tt.reason || !strings.Contains(c.Message, tt.message) ||
				c.ObservedGeneration != 7 || !c.LastTransitionTime.Time.Equal(at(5)) || len(c.Message) > maxMessageBytes {
				t.Errorf("condition is %+v", c)
			}
			again := policyStatus(policy, 3, tt.defeats, tt.problem, &got, at(50))
			if fmt.Sprint(again) != fmt.Sprint(got) {
				t.Errorf("status changed from\n%v to\n%v", got, again)
			}
		})
	}
}

func TestGoverned(t *testing.T) {
	ref := func(name string) picker.PolicyRef { return picker.PolicyRef{Kind: "ElectionPolicy", Name: name} }
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }
	expect := func(what string, got []picker.PolicyRef, want ...string) {
		t.Helper()
		names := map[string]bool{}
		for _, r := range got {
			names[r.Name] = true
		}
		if len(names) != len(want) {
			t.Errorf("%s: touched %v, want %v", what, got, want)
		}
		for _, w := range want {
			if !names[w] {
				t.Errorf("%s: %s was not touched", what, w)
			}
		}
	}
	var g governed
	expect("first", g.set(key("b"), ref("p"), []picker.PolicyRef{ref("q")}), "p", "q")
	expect("the same", g.set(key("b"), ref("p"), []picker.PolicyRef{ref("q")}))
	expect("second", g.set(key("a"), ref("p"), []picker.PolicyRef{ref("q")}), "p", "q")
	if n, defeats := g.of(ref("p")); n != 2 || len(defeats) != 0 {
		t.Errorf("p governs %d, lost %v", n, defeats)
	}
	if n, defeats := g.of(ref("q")); n != 0 || len(defeats) != 2 || defeats[0].lease != key("a") || defeats[0].winner != ref("p") {
		t.Errorf("q governs %d, lost %v", n, defeats)
	}
	expect("another winner", g.set(key("a"), ref("q"), nil), "p", "q")
	expect("removed", g.remove(key("b")), "p", "q")
	expect("removed again", g.remove(key("b")))
	if n, defeats := g.of(ref("q")); n != 1 || len(defeats) != 0 {
		t.Errorf("q governs %d, lost %v", n, defeats)
	}
	if len(g.counts) != 1 || len(g.lost) != 0 || len(g.leases) != 1 {
		t.Errorf("left over: %v %v %v", g.counts, g.lost, g.leases)
	}
}
