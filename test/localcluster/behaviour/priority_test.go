package behaviour

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// A priority makes the newer one win, until it ends by itself.
func TestPriorityEndsByItself(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(v1alpha1.Strategy{Name: v1alpha1.Priority}, patient)
	c.elect("older", older, "node-1")
	c.leads("older")
	c.elect("newer", newer, "node-2")
	c.running("newer")
	c.ruled("newer_x", chosen("older", byEmulationVersion))

	c.prioritize("newer", 7, time.Now().Add(time.Hour))
	c.ruled("older_x", chosen("newer", "Priority (7 over 0)"))
	g.Eventually(c.condition(v1alpha1.ConditionHolderNotChosen), soon, often).Should(
		beTrue("OtherChosen", "older holds the Lease, newer is chosen by Priority"))
	g.Expect(cluster.Signal(c.namespace, "older", container, syscall.SIGSTOP)).To(Succeed())
	c.leads("newer")
	g.Expect(c.held().Annotations).To(HaveKeyWithValue(v1alpha1.CriterionAnnotation, "Priority"))
	g.Expect(cluster.Signal(c.namespace, "older", container, syscall.SIGCONT)).To(Succeed())

	until := time.Now().Add(4 * time.Second).UTC().Truncate(time.Second)
	c.prioritize("newer", 7, until)
	g.Eventually(c.condition(v1alpha1.ConditionHolderNotChosen), soon, often).Should(
		beTrue("OtherChosen", "newer holds the Lease, older is chosen by OldestEmulationVersion"))
	g.Expect(time.Now()).To(BeTemporally(">=", until))
	c.ruled("newer_x", chosen("older", byEmulationVersion))
	for _, kind := range []string{"Pod", "Election"} {
		g.Eventually(func() ([]string, error) { return c.events(kind, "PriorityEnded") }, soon, often).Should(HaveExactElements(
			fmt.Sprintf("priority 7 of newer ended at %s, as leasewarden.dev/priority-until says; remove both annotations", until.Format(time.RFC3339))))
	}
}

// prioritize annotates a Pod, as people do.
func (c *contest) prioritize(pod string, priority int, until time.Time) {
	c.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d",%q:%q}}}`,
		v1alpha1.PriorityAnnotation, priority, v1alpha1.PriorityUntilAnnotation, until.Format(time.RFC3339))
	_, err := kube.CoreV1().Pods(c.namespace).Patch(c.t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{})
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
}

// events are the notes of the Events of that reason about objects of a kind.
func (c *contest) events(kind, reason string) ([]string, error) {
	list, err := kube.EventsV1().Events(c.namespace).List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	notes := []string{}
	for _, event := range list.Items {
		if event.Regarding.Kind == kind && event.Reason == reason {
			notes = append(notes, event.Note)
		}
	}
	return notes, nil
}
