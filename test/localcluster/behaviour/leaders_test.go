package behaviour

import (
	"os"
	"strings"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// grace is what a loaded machine, the next try of an elector and the kubelet's
// next look may take, on top of what a Lease may be vacant.
const grace = 4 * time.Second

// keep starts a client-go elector that ends when it has lost the Lease, and never
// releases it.
func (c *contest) keep(name, version, node string) {
	c.t.Helper()
	times := []string{c.times.LeaseDuration.String(), c.times.RenewDeadline.String(), c.times.RetryPeriod.String()}
	c.start(name, node, corev1.Container{
		Image: "testprogram:" + version, Args: append([]string{"elect", "-once", "-release=false", c.namespace}, times...),
	})
}

// kill kills the leader's container, and returns when that has ended.
func (c *contest) kill() time.Time {
	c.t.Helper()
	var ended time.Time
	NewWithT(c.t).Eventually(func() (err error) {
		ended, err = cluster.KillContainer(c.namespace, c.holder(), container)
		return err
	}, soon, often).Should(Succeed())
	return ended
}

// allRun waits until all containers of the contest run.
func (c *contest) allRun() {
	c.t.Helper()
	NewWithT(c.t).Eventually(func(g Gomega) {
		pods, err := kube.CoreV1().Pods(c.namespace).List(c.t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, pod := range pods.Items {
			g.Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
			g.Expect(pod.Status.ContainerStatuses[0].State.Running).NotTo(BeNil(), pod.Name)
		}
	}, electing, often).Should(Succeed())
}

// records are what the electors in Pods have said of when they led, in the order
// of time.
func (c *contest) records() []elector.Record {
	c.t.Helper()
	g := NewWithT(c.t)
	logs, err := cluster.ContainerLogs(c.namespace)
	g.Expect(err).NotTo(HaveOccurred())
	var all []elector.Record
	for _, path := range logs {
		file, err := os.Open(path)
		g.Expect(err).NotTo(HaveOccurred())
		records, err := elector.ReadRecords(file)
		file.Close()
		g.Expect(err).NotTo(HaveOccurred())
		all = append(all, records...)
	}
	elector.Sort(all)
	return all
}

// next waits for the first elector to lead after that moment, and returns who and
// when.
func (c *contest) next(after time.Time) (pod string, at time.Time) {
	c.t.Helper()
	NewWithT(c.t).Eventually(func() string {
		for _, r := range elector.Terms(c.records()) {
			if r.At.After(after) {
				pod, _, _ = strings.Cut(r.Identity, "_")
				at = r.At
				return pod
			}
		}
		return ""
	}, electing, often).ShouldNot(BeEmpty(), "somebody leads after %s", after)
	return pod, at
}

// succeeds waits for the next leader after that moment, which must not be later
// than the bound. It returns who it is.
func (c *contest) succeeds(after time.Time, bound time.Duration) string {
	c.t.Helper()
	pod, at := c.next(after)
	vacant := at.Sub(after)
	c.t.Logf("%s leads after %s", pod, vacant.Round(10*time.Millisecond))
	NewWithT(c.t).Expect(vacant).To(BeNumerically("<", bound+grace), "vacant, at most %s and what the machine takes", bound)
	return pod
}

// stopped is when the Pod's elector said that it leads no more.
func (c *contest) stopped(pod string) (at time.Time) {
	c.t.Helper()
	NewWithT(c.t).Eventually(func() bool {
		for _, r := range c.records() {
			if !r.Leads && strings.HasPrefix(r.Identity, pod+"_") {
				at = r.At
			}
		}
		return !at.IsZero()
	}, electing, often).Should(BeTrue(), "%s says that it leads no more", pod)
	return at
}

// neverTwo fails the test if two electors have led at the same time, as they saw
// it themselves. Every contest ends with it.
func (c *contest) neverTwo() {
	for _, two := range elector.Overlaps(c.records()) {
		c.t.Errorf("two leaders: %s", two)
	}
}
