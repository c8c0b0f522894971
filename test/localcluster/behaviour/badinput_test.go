package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestPolicyThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	c := newContest(t, brisk)
	tests := map[string]struct {
		spec v1alpha1.ElectionPolicySpec
		want string
	}{
		"unknown strategy": {
			v1alpha1.ElectionPolicySpec{Leases: v1alpha1.LeaseSelection{Names: []string{"a"}}, Strategy: v1alpha1.Strategy{Name: "Best"}},
			"spec.strategy.name",
		},
		"no lease": {
			v1alpha1.ElectionPolicySpec{Leases: v1alpha1.LeaseSelection{Names: []string{}}, Strategy: byVersion},
			"spec.leases.names",
		},
		"CEL that does not compile": {
			v1alpha1.ElectionPolicySpec{
				Leases:   v1alpha1.LeaseSelection{Names: []string{"a"}},
				Strategy: v1alpha1.Strategy{Name: v1alpha1.Custom, Scores: []v1alpha1.ScoreEntry{{CEL: "candidate.nonsense"}}},
			},
			"spec.strategy.scores[0].cel",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			policy := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "bad", Namespace: c.namespace}, Spec: test.spec}
			g.Expect(client.Create(t.Context(), policy)).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

// A candidate whose version cannot be read is not eligible, and never stops
// the others.
func TestUnreadableVersionDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, brisk)
	cluster.AddImage("kube-scheduler:stable", olderScheduler)
	c.govern(byVersion)
	c.run("odd", "stable", "node-1")
	g.Eventually(func() string { return c.refused("odd") }, soon, often).Should(ContainSubstring("stable"))
	c.run("plain", newer, "node-2")
	c.leads("plain")
}
