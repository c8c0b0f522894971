package behaviour

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

var byNewest = v1alpha1.Strategy{Name: v1alpha1.NewestVersion}

// Three policies select one Lease: the older of the namespaced ones governs,
// and the others say that they do not.
func TestOnePolicyGovernsAndTheOthersSaySo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	wins := c.govern(byVersion, patient, withoutPods)
	g.Eventually(time.Now, soon, often).Should(BeTemporally(">=", wins.CreationTimestamp.Add(time.Second)),
		"the next policy is younger, and not of the same second")
	// By name it would come first.
	second := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: c.namespace}, Spec: wins.Spec}
	second.Spec.Strategy = byNewest
	g.Expect(client.Create(t.Context(), second)).To(Succeed())
	third := c.governFromCluster(byNewest)
	c.register("host-a", older)
	c.register("host-b", newer)
	c.ruled("host-b_1", chosen("host-a", byEmulationVersion))
	c.compete("host-a_1")
	c.leads("host-a")

	governedBy := fmt.Sprintf("lease %[1]s/%[1]s is governed by ElectionPolicy %[1]s/policy", c.namespace)
	g.Eventually(c.policyConflict(second, &second.Status), soon, often).Should(beTrue("Overruled", governedBy))
	g.Eventually(c.policyConflict(third, &third.Status), soon, often).Should(beTrue("Overruled", governedBy))
	g.Eventually(c.policyConflict(wins, &wins.Status), soon, often).Should(HaveField("Status", metav1.ConditionFalse))
	g.Eventually(c.leases(wins, &wins.Status), soon, often).Should(BeEquivalentTo(1))
	g.Eventually(c.leases(second, &second.Status), soon, often).Should(BeZero())
	g.Eventually(c.condition(v1alpha1.ConditionPolicyConflict), soon, often).Should(beTrue("SeveralPolicies", fmt.Sprintf(
		"ElectionPolicy %[1]s/policy governs the Lease, which these select, too: ClusterElectionPolicy %[1]s, ElectionPolicy %[1]s/a", c.namespace)))

	g.Expect(client.Delete(t.Context(), wins)).To(Succeed())
	c.ruled("host-a_1", And(chosen("host-b", "NewestBinaryVersion"), HaveSuffix("under ElectionPolicy %s/a", c.namespace)))
	g.Eventually(c.policyConflict(second, &second.Status), soon, often).Should(HaveField("Status", metav1.ConditionFalse))
	g.Expect(client.Delete(t.Context(), second)).To(Succeed())
	c.ruled("host-a_1", And(chosen("host-b", "NewestBinaryVersion"), HaveSuffix("under ClusterElectionPolicy %s", c.namespace)))
	g.Eventually(c.condition(v1alpha1.ConditionPolicyConflict), soon, often).Should(HaveField("Status", metav1.ConditionFalse))
}

// governFromCluster has a policy of the cluster select the contest's Lease.
func (c *contest) governFromCluster(strategy v1alpha1.Strategy) *v1alpha1.ClusterElectionPolicy {
	c.t.Helper()
	policy := &v1alpha1.ClusterElectionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace},
		Spec: v1alpha1.ClusterElectionPolicySpec{
			ElectionPolicySpec: v1alpha1.ElectionPolicySpec{
				Leases:   v1alpha1.LeaseSelection{Names: []string{c.namespace}},
				Strategy: strategy,
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: c.namespace}},
		},
	}
	NewWithT(c.t).Expect(client.Create(c.t.Context(), policy)).To(Succeed())
	c.t.Cleanup(func() { _ = client.Delete(context.Background(), policy) })
	return policy
}

// policyConflict reads the policy, and returns its condition PolicyConflict if
// the status is of the policy as it is.
func (c *contest) policyConflict(policy ctrlclient.Object, status *v1alpha1.ElectionPolicyStatus) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		if err := client.Get(c.t.Context(), ctrlclient.ObjectKeyFromObject(policy), policy); err != nil {
			return nil, err
		}
		found := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPolicyConflict)
		if found == nil || found.ObservedGeneration != policy.GetGeneration() {
			return nil, fmt.Errorf("%s says nothing about conflicts yet", policy.GetName())
		}
		return found, nil
	}
}

// leases reads the policy, and returns how many Leases it says to govern.
func (c *contest) leases(policy ctrlclient.Object, status *v1alpha1.ElectionPolicyStatus) func() (int32, error) {
	return func() (int32, error) {
		err := client.Get(c.t.Context(), ctrlclient.ObjectKeyFromObject(policy), policy)
		return status.Leases, err
	}
}
