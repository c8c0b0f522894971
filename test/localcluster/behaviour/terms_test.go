package behaviour

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// slow terms take longer to run out than any test here waits for a change.
var slow = elector.Timings{LeaseDuration: 60 * time.Second, RenewDeadline: 40 * time.Second, RetryPeriod: 500 * time.Millisecond}

// preempting has holders make way for better candidates at once.
func preempting(method v1alpha1.PreemptionMethod) func(*v1alpha1.ElectionPolicySpec) {
	return func(spec *v1alpha1.ElectionPolicySpec) {
		spec.Preemption = v1alpha1.Preemption{
			When: v1alpha1.PreemptForBetter, Method: method,
			MinTerm: &metav1.Duration{}, Cooldown: &metav1.Duration{Duration: time.Second},
		}
	}
}

// identity is the holder identity on the Lease.
func (c *contest) identity() string {
	c.t.Helper()
	lease, err := kube.CoordinationV1().Leases(c.namespace).Get(c.t.Context(), c.namespace, metav1.GetOptions{})
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// order is who the Lease tells to step down.
func (c *contest) order() string {
	c.t.Helper()
	lease, err := kube.CoordinationV1().Leases(c.namespace).Get(c.t.Context(), c.namespace, metav1.GetOptions{})
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
	return lease.Annotations[v1alpha1.StepDownAnnotation]
}

// stepping is the reason of the Election's condition SteppingDown.
func (c *contest) stepping() (string, error) {
	condition, err := c.condition(v1alpha1.ConditionSteppingDown)()
	if err != nil {
		return "", err
	}
	return condition.Reason, nil
}

// hold has the Lease held under a strategy of coordinated elections, as an
// administrator.
func (c *contest) hold(identity string, strategy coordinationv1.CoordinatedLeaseStrategy) {
	c.t.Helper()
	lease := c.lease(identity)
	lease.Spec.Strategy = &strategy
	leases := kube.CoordinationV1().Leases(c.namespace)
	found, err := leases.Get(c.t.Context(), c.namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(c.t.Context(), lease, metav1.CreateOptions{})
	} else if err == nil {
		found.Spec = lease.Spec
		_, err = leases.Update(c.t.Context(), found, metav1.UpdateOptions{})
	}
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
}

// A leader that is killed is replaced long before its term has run out.
func TestKilledLeaderIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion)
	c.elect("a", older, "node-1")
	c.leads("a")
	c.elect("b", newer, "node-2")
	c.running("b")

	dead := c.identity()
	killed, err := cluster.KillContainer(c.namespace, "a", container)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(c.identity, "5s", "20ms").Should(And(Not(BeEmpty()), Not(Equal(dead))))
	t.Logf("%s leads %s after the kill", c.holder(), time.Since(killed).Round(10*time.Millisecond))
}

// A Pod that is deleted, and ignores that until it is killed, leaves its report
// in the last event on it.
func TestDeletedLeaderIsReplacedOnceItsContainerHasEnded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion)
	c.elect("a", older, "node-1")
	c.leads("a")
	c.elect("b", newer, "node-2")
	c.running("b")
	g.Expect(cluster.Signal(c.namespace, "a", container, syscall.SIGSTOP)).To(Succeed())
	c.remove("a")
	g.Eventually(c.holder, "15s", often).Should(Equal("b"))
}

// Nobody knows whether the process of a Pod that was deleted by force still runs.
func TestForceDeletedLeaderIsNotReplacedWithinItsTerm(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion)
	c.elect("a", older, "node-1")
	c.leads("a")
	c.elect("b", newer, "node-2")
	c.running("b")
	g.Expect(cluster.Signal(c.namespace, "a", container, syscall.SIGSTOP)).To(Succeed())
	g.Expect(kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: new(int64)})).To(Succeed())
	g.Consistently(c.holder, "10s", often).Should(Equal("a"))
}

// A holder that knows nothing of us makes way for a better candidate, within its
// own renew deadline.
func TestHolderStepsDownForABetterCandidate(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	c.elect("new", newer, "node-1")
	c.leads("new")
	g.Consistently(c.order, "1s", often).Should(BeEmpty(), "nobody is better")

	c.elect("old", older, "node-2")
	c.leads("old")
	g.Eventually(c.order, soon, often).Should(BeEmpty(), "the order goes with the holder")
	g.Eventually(c.stepping, soon, often).Should(Equal("SteppedDown"))
	g.Expect(c.refused("new")).To(ContainSubstring("candidate new was told to step down: old is chosen by OldestEmulationVersion (%s over %s)", older, newer))
	g.Consistently(c.holder, "5s", often).Should(Equal("old"))
}

// An order is taken back before it has cost anybody the Lease.
func TestOrderIsTakenBackWhenTheReplacementIsGone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	c.elect("new", newer, "node-1")
	c.leads("new")
	holder := c.identity()

	c.idle("old", older, "node-2")
	g.Eventually(c.order, soon, often).Should(Equal(holder))
	g.Eventually(func() string { return c.refused("new") }, soon, often).Should(ContainSubstring("was told to step down"))
	c.remove("old")
	g.Eventually(c.order, soon, often).Should(BeEmpty())
	g.Eventually(c.stepping, soon, often).Should(Equal("TakenBack"))
	c.awaitRenewals(5)
	g.Expect(c.identity()).To(Equal(holder), "it never lost the Lease")
}

// While Leasewarden is down, a holder that was told to step down keeps the Lease.
// Whoever comes up again finds the order, and that its reason is gone.
func TestOrderIsTakenBackAfterACrash(t *testing.T) {
	// Not parallel: it takes Leasewarden away from all.
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	c.elect("new", newer, "node-1")
	c.leads("new")
	holder := c.identity()
	c.idle("old", older, "node-2")
	g.Eventually(func() string { return c.refused("new") }, soon, often).Should(ContainSubstring("was told to step down"))

	g.Expect(warden.Kill()).To(Succeed())
	revived := false
	t.Cleanup(func() {
		if !revived {
			revive(g)
		}
	})
	c.awaitRenewals(5)
	g.Expect(c.order()).To(Equal(holder))
	c.remove("old")
	revive(g)
	revived = true
	g.Eventually(c.order, soon, often).Should(BeEmpty())
	c.awaitRenewals(5)
	g.Expect(c.identity()).To(Equal(holder), "it never lost the Lease")
}

// Deleting the policy takes everything of ours off the Lease.
func TestNothingIsLeftWithoutThePolicy(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	policy := c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	c.elect("new", newer, "node-1")
	c.leads("new")
	c.idle("old", older, "node-2")
	g.Eventually(c.order, soon, often).ShouldNot(BeEmpty())
	g.Expect(client.Delete(t.Context(), policy)).To(Succeed())
	g.Eventually(func(g Gomega) {
		lease, err := kube.CoordinationV1().Leases(c.namespace).Get(t.Context(), c.namespace, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lease.Annotations).To(BeEmpty())
	}, soon, often).Should(Succeed())
	c.awaitRenewals(5)
	g.Expect(c.holder()).To(Equal("new"))
}

// An eviction honours PodDisruptionBudgets: it waits until it is allowed.
func TestEvictionWaitsForTheDisruptionBudget(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget", Namespace: c.namespace},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(2)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": c.namespace}},
		},
	}
	g.Expect(client.Create(t.Context(), budget)).To(Succeed())
	c.govern(byVersion, preempting(v1alpha1.Evict))
	c.elect("new", newer, "node-1")
	c.leads("new")
	c.elect("old", older, "node-2")
	g.Eventually(c.stepping, soon, often).Should(Equal("EvictionRefused"))
	g.Consistently(c.holder, "2s", often).Should(Equal("new"))
	g.Expect(c.order()).To(BeEmpty(), "a refused eviction is not made up for by denied renewals")

	g.Expect(client.Delete(t.Context(), budget)).To(Succeed())
	c.leads("old")
	g.Eventually(func() error {
		_, err := kube.CoreV1().Pods(c.namespace).Get(t.Context(), "new", metav1.GetOptions{})
		return err
	}, soon, often).Should(MatchError(ContainSubstring("not found")))
}

// What the API server coordinates is left alone, and said so.
func TestUpstreamCoordinationIsLeftAlone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.idle("old", older, "node-1")
	c.idle("new", newer, "node-2")
	c.hold("new_1", coordinationv1.OldestEmulationVersion)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal), patient)
	g.Eventually(c.condition(v1alpha1.ConditionReady), soon, often).Should(HaveField("Reason", "CoordinatedByOthers"))
	g.Consistently(c.order, "2s", often).Should(BeEmpty())
	c.hold("stranger", coordinationv1.OldestEmulationVersion)
	g.Expect(c.identity()).To(Equal("stranger"), "no write is ruled on")
}

// A coordinated elector whose strategy leaves the election to us is told by name
// whom it has to make way for, and no longer than that one is there.
func TestCoordinatedHolderIsToldWhoComesNext(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	c.candidacy("newer_1", "1.37.2")
	c.hold("newer_1", "leasewarden.dev/by-policy")
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal), withoutPods)
	preferred := func() *string {
		lease, err := kube.CoordinationV1().Leases(c.namespace).Get(t.Context(), c.namespace, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return lease.Spec.PreferredHolder
	}
	g.Consistently(preferred, "1s", often).Should(BeNil())
	withdraw := c.candidacy("older_1", "1.36.3")
	g.Eventually(preferred, soon, often).Should(HaveValue(Equal("older_1")))
	g.Expect(c.order()).To(Equal("newer_1"))
	withdraw()
	g.Eventually(preferred, soon, often).Should(BeNil())
	g.Expect(c.order()).To(BeEmpty())
}

// A rolling update changes the leader once: to a Pod that outlives it.
func TestRollingUpdateChangesTheLeaderOnce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(v1alpha1.Strategy{Name: v1alpha1.RolloutAware}, func(spec *v1alpha1.ElectionPolicySpec) {
		preempting(v1alpha1.DenyRenewal)(spec)
		spec.Preemption.When = v1alpha1.PreemptAfterRollout
	})
	deployment := c.deploy(3, older)
	g.Eventually(c.identity, electing, often).ShouldNot(BeEmpty())
	changes := c.countLeaders()

	g.Expect(client.Get(t.Context(), ctrlclient.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
	deployment.Spec.Template.Spec.Containers[0].Image = "testprogram:" + newer
	g.Expect(client.Update(t.Context(), deployment)).To(Succeed())
	c.rolledOut(deployment)
	g.Consistently(c.identity, "5s", often).ShouldNot(BeEmpty())
	g.Expect(changes()).To(HaveLen(2), "the leaders before and after")
}

// deploy starts electors as the Pods of a Deployment, and waits for them.
func (c *contest) deploy(replicas int32, version string) *appsv1.Deployment {
	c.t.Helper()
	labels := map[string]string{"app": c.namespace}
	times := []string{c.times.LeaseDuration.String(), c.times.RenewDeadline.String(), c.times.RetryPeriod.String()}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "elector", Namespace: c.namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ServiceAccountName: c.namespace,
					Containers: []corev1.Container{{
						Name: container, Image: "testprogram:" + version, Args: append([]string{"elect", c.namespace}, times...),
					}},
				},
			},
		},
	}
	NewWithT(c.t).Expect(client.Create(c.t.Context(), deployment)).To(Succeed())
	c.rolledOut(deployment)
	return deployment
}

// rolledOut waits until the Deployment has no Pods but those of its last version.
func (c *contest) rolledOut(deployment *appsv1.Deployment) {
	c.t.Helper()
	NewWithT(c.t).Eventually(func(g Gomega) {
		d, err := kube.AppsV1().Deployments(c.namespace).Get(c.t.Context(), deployment.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
		g.Expect(d.Status.UpdatedReplicas).To(Equal(*d.Spec.Replicas))
		g.Expect(d.Status.AvailableReplicas).To(Equal(*d.Spec.Replicas))
		pods, err := kube.CoreV1().Pods(c.namespace).List(c.t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pods.Items).To(HaveLen(int(*d.Spec.Replicas)))
	}, "60s", often).Should(Succeed())
}

// countLeaders notes who holds the Lease from now on. What it returns says who
// did.
func (c *contest) countLeaders() func() []string {
	c.t.Helper()
	w, err := kube.CoordinationV1().Leases(c.namespace).Watch(c.t.Context(), metav1.ListOptions{})
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
	var mu sync.Mutex
	leaders := []string{c.identity()}
	go func() {
		for e := range w.ResultChan() {
			lease, ok := e.Object.(*coordinationv1.Lease)
			if !ok || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
				continue
			}
			mu.Lock()
			if holder := *lease.Spec.HolderIdentity; leaders[len(leaders)-1] != holder {
				leaders = append(leaders, holder)
			}
			mu.Unlock()
		}
	}()
	c.t.Cleanup(w.Stop)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(leaders)
	}
}
