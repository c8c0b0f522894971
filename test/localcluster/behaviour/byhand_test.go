package behaviour

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// byHand runs a command of leasewarden, with the contest's Lease as its first
// argument, and returns what it printed and its exit status.
func (c *contest) byHand(command string, args ...string) (output string, status int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	args = append([]string{command, c.namespace + "/" + c.namespace, "--kubeconfig=" + cluster.Kubeconfig()}, args...)
	var out bytes.Buffer
	run := exec.CommandContext(ctx, program, args...)
	run.Stdout, run.Stderr = &out, &out
	err := run.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	c.t.Logf("leasewarden %s: %s", strings.Join(args, " "), out.String())
	return out.String(), run.ProcessState.ExitCode()
}

// do runs a command that must succeed.
func (c *contest) do(command string, args ...string) string {
	c.t.Helper()
	output, status := c.byHand(command, args...)
	NewWithT(c.t).Expect(status).To(BeZero(), output)
	return output
}

// asked is the Election of the contest's Lease.
func (c *contest) asked(g Gomega) *v1alpha1.Election {
	e := &v1alpha1.Election{}
	g.Expect(client.Get(c.t.Context(), ctrlclient.ObjectKey{Namespace: c.namespace, Name: c.namespace}, e)).To(Succeed())
	return e
}

// knows waits until the Election says that the candidate may lead.
func (c *contest) knows(name string) {
	c.t.Helper()
	NewWithT(c.t).Eventually(func(g Gomega) {
		var eligible []string
		for _, v := range c.asked(g).Status.Candidates {
			if v.Eligible {
				eligible = append(eligible, v.Name)
			}
		}
		g.Expect(eligible).To(ContainElement(name))
	}, soon, often).Should(Succeed())
}

// restarted waits until the Pod's only container runs for the second time, as a
// kube-scheduler's does that has lost its Lease.
func (c *contest) restarted(name string) {
	c.t.Helper()
	NewWithT(c.t).Eventually(func(g Gomega) {
		pod, err := kube.CoreV1().Pods(c.namespace).Get(c.t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
		g.Expect(pod.Status.ContainerStatuses[0].RestartCount).To(BeNumerically(">", 0))
		g.Expect(pod.Status.ContainerStatuses[0].State.Running).NotTo(BeNil())
	}, soon, often).Should(Succeed())
}

// annotations are the Lease's.
func (c *contest) annotations(g Gomega) map[string]string {
	lease, err := kube.CoordinationV1().Leases(c.namespace).Get(c.t.Context(), c.namespace, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return lease.Annotations
}

// twoSchedulers has "a", which the strategy prefers, lead and "b" wait.
func twoSchedulers(t *testing.T) *contest {
	t.Helper()
	c := newContest(t, brisk)
	c.govern(byVersion)
	c.run("a", older, "node-1")
	c.leads("a")
	c.run("b", newer, "node-2")
	c.running("b")
	c.knows("b")
	return c
}

func TestSwitchoverByHand(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := twoSchedulers(t)

	output, status := c.byHand("switchover", "--to=nobody", "--wait")
	g.Expect(status).To(Equal(2))
	g.Expect(output).To(ContainSubstring("nobody is not a candidate for %s/%s: there are a, b", c.namespace, c.namespace))
	g.Expect(c.do("switchover", "--to=a", "--wait")).To(ContainSubstring("a leads %s/%s already", c.namespace, c.namespace))

	output = c.do("switchover", "--to=b", "--wait", "--timeout=1m")
	g.Expect(output).To(And(ContainSubstring("waiting for a to give the Lease up"), ContainSubstring("b leads %s/%s, after", c.namespace, c.namespace)))
	g.Expect(c.holder()).To(Equal("b"))
	g.Eventually(func(g Gomega) {
		e := c.asked(g)
		g.Expect(e.Spec.Switchover).To(BeNil())
		g.Expect(e.Status.Switchover.State).To(Equal(v1alpha1.SwitchoverDone))
		g.Expect(e.Status.Terms[0].Criterion).To(Equal("Switchover"))
		g.Expect(c.annotations(g)).NotTo(HaveKey(v1alpha1.StepDownAnnotation))
	}, soon, often).Should(Succeed())
	g.Consistently(c.holder, "5s", often).Should(Equal("b"), "it was moved once: nobody has to step down for a")
	g.Expect(c.do("history")).To(And(ContainSubstring("leads"), ContainSubstring("Switchover")))

	// A replica that hangs does not take it, and must not have it taken back and forth.
	c.hang("a")
	output, status = c.byHand("switchover", "--to=a", "--wait", "--timeout=1m")
	g.Expect(status).To(Equal(1))
	g.Expect(output).To(ContainSubstring("failed: "))
	c.leads("b")
	g.Eventually(func(g Gomega) { g.Expect(c.asked(g).Spec.Switchover).To(BeNil()) }, soon, often).Should(Succeed())
}

// hang stops the processes of a Pod's only container.
func (c *contest) hang(name string) {
	c.t.Helper()
	g := NewWithT(c.t)
	pod, err := kube.CoreV1().Pods(c.namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() error {
		return cluster.Signal(c.namespace, name, pod.Spec.Containers[0].Name, syscall.SIGSTOP)
	}, soon, often).Should(Succeed())
}

func TestScheduledSwitchover(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := twoSchedulers(t)
	for at, want := range map[string]string{
		"30 minutes": "must be a duration from 1s to 1h", "2h": "must be a duration from 1s to 1h", "0s": "must be a duration from 1s to 1h",
	} {
		err := c.patch(`{"spec":{"switchover":{"to":"b","timeout":"` + at + `"}}}`)
		g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%s: %v", at, err)
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}

	at := time.Now().Add(4 * time.Second).UTC().Format(time.RFC3339)
	ask := `{"spec":{"switchover":{"to":"b","at":"` + at + `"}}}`
	g.Expect(c.patch(ask)).To(Succeed())
	g.Eventually(func(g Gomega) {
		answer := c.asked(g).Status.Switchover
		g.Expect(answer).NotTo(BeNil())
		g.Expect(answer.State).To(Equal(v1alpha1.SwitchoverScheduled))
	}, soon, often).Should(Succeed())
	c.leads("b")
	g.Eventually(func(g Gomega) { g.Expect(c.asked(g).Spec.Switchover).To(BeNil()) }, soon, often).Should(Succeed())

	// A tool puts back what stands in Git: nothing is done, and nobody fights.
	c.restarted("a")
	c.knows("a")
	c.do("switchover", "--to=a", "--wait")
	g.Expect(c.patch(ask)).To(Succeed())
	g.Eventually(func(g Gomega) {
		e := c.asked(g)
		g.Expect(e.Spec.Switchover).To(BeNil())
		g.Expect(e.Status.Switchover.Message).To(ContainSubstring("is over"))
	}, soon, often).Should(Succeed())
	g.Expect(c.patch(ask)).To(Succeed())
	g.Consistently(func(g Gomega) {
		g.Expect(c.holder()).To(Equal("a"))
		g.Expect(c.asked(g).Spec.Switchover).NotTo(BeNil())
	}, "5s", often).Should(Succeed())
}

// patch changes the contest's Election as kubectl patch does.
func (c *contest) patch(patch string) error {
	e := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.namespace}}
	return client.Patch(c.t.Context(), e, ctrlclient.RawPatch("application/merge-patch+json", []byte(patch)), ctrlclient.FieldOwner("kubectl-patch"))
}

func TestPinByHand(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := twoSchedulers(t)
	g.Expect(c.do("pin", "b")).To(ContainSubstring("a, which holds it, is made to step down"))
	c.leads("b")

	c.remove("b")
	c.leads("a") // the pin gives way
	c.run("b", newer, "node-2")
	c.leads("b")

	c.do("unpin")
	g.Consistently(c.holder, "5s", often).Should(Equal("b"), "unpinning moves nobody")
	g.Expect(c.asked(g).Spec).To(BeZero())
}

// A pin on a replica that hangs costs one leader change, not one each term.
func TestPinOnAReplicaThatHangs(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := twoSchedulers(t)
	c.hang("b")
	c.do("pin", "b")
	g.Eventually(func(g Gomega) {
		pinned := meta.FindStatusCondition(c.asked(g).Status.Conditions, v1alpha1.ConditionPinned)
		g.Expect(pinned).NotTo(BeNil())
		g.Expect(pinned.Reason).To(Equal("CandidateFailed"))
	}, electing, often).Should(Succeed())
	c.leads("a")
	g.Consistently(c.holder, "10s", often).Should(Equal("a"))
}

// Intent may be there before anything else.
func TestPinBeforeThePolicy(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, brisk)
	g.Expect(client.Create(t.Context(), &v1alpha1.Election{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.namespace},
		Spec:       v1alpha1.ElectionSpec{Pin: "b"},
	})).To(Succeed())
	policy := c.govern(byVersion)
	c.run("a", older, "node-1")
	c.leads("a")
	c.run("b", newer, "node-2")
	c.leads("b")
	g.Eventually(func(g Gomega) {
		g.Expect(meta.IsStatusConditionTrue(c.asked(g).Status.Conditions, v1alpha1.ConditionPinned)).To(BeTrue())
	}, soon, often).Should(Succeed())

	g.Expect(client.Delete(t.Context(), policy)).To(Succeed())
	g.Eventually(func(g Gomega) { g.Expect(c.asked(g).Status.Policy).To(BeEmpty()) }, soon, often).Should(Succeed())
	g.Expect(c.asked(g).Spec.Pin).To(Equal("b"), "it is not ours to delete")
}

func TestPauseByHand(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, brisk)
	c.govern(byVersion, func(spec *v1alpha1.ElectionPolicySpec) {
		spec.AcquireDeadline = &metav1.Duration{Duration: time.Hour}
	})
	// The chosen one hangs before it can try, so that "b" is turned away.
	c.run("a", older, "node-1")
	g.Eventually(func() error {
		pod, err := kube.CoreV1().Pods(c.namespace).Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return cluster.Signal(c.namespace, "a", pod.Spec.Containers[0].Name, syscall.SIGSTOP)
	}, soon, "1ms").Should(Succeed())
	c.running("a")
	c.run("b", newer, "node-2")
	g.Eventually(func() string { return c.refused("b") }, soon, often).ShouldNot(BeEmpty())

	c.do("pause")
	c.leads("b")
	output, status := c.byHand("switchover", "--to=b")
	g.Expect(status).To(BeZero(), "it leads already: %s", output)
	c.do("resume")
	g.Consistently(c.holder, "4s", often).Should(Equal("b"), "to resume moves nobody")
}

// Whoever may edit a namespace may move its leaders, and not write our status.
func TestPeopleMayMoveLeaders(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	verbs := func(role, resource string) []string {
		var found []string
		got := &rbacv1.ClusterRole{}
		g.Expect(client.Get(t.Context(), ctrlclient.ObjectKey{Name: role}, got)).To(Succeed())
		for _, rule := range got.Rules {
			for i := range rule.Resources {
				if rule.Resources[i] == resource {
					found = append(found, rule.Verbs...)
				}
			}
		}
		return found
	}
	for _, role := range []string{"admin", "edit"} {
		g.Eventually(func() []string { return verbs(role, "elections") }, soon, often).Should(ContainElements("get", "list", "watch", "create", "update", "patch"))
		g.Expect(verbs(role, "elections/status")).To(BeEmpty())
	}
	g.Eventually(func() []string { return verbs("view", "elections") }, soon, often).Should(ConsistOf("get", "list", "watch"))
}
