package candidates

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func running(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start)}}}
}

// crashed is a container that ended some seconds after start and waits to be
// started again.
func crashed(name string, seconds time.Duration) corev1.ContainerStatus {
	end := &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(start), FinishedAt: metav1.NewTime(start.Add(seconds * time.Second))}
	return corev1.ContainerStatus{
		Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: end},
	}
}

func statuses(list ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = list }
}

func TestPodWhoseContainersHaveEndedIsNotAvailable(t *testing.T) {
	tests := map[string]struct {
		statuses  []corev1.ContainerStatus
		container string
		want      string
	}{
		"nobody says":                       {nil, "", ""},
		"running":                           {[]corev1.ContainerStatus{running("web")}, "", ""},
		"crashed":                           {[]corev1.ContainerStatus{crashed("web", 5)}, "", noContainerRuns},
		"another one runs":                  {[]corev1.ContainerStatus{crashed("web", 5), running("proxy")}, "", ""},
		"another one runs, but web elects":  {[]corev1.ContainerStatus{crashed("web", 5), running("proxy")}, "web", noContainerRuns},
		"another one crashed, but web runs": {[]corev1.ContainerStatus{crashed("proxy", 5), running("web")}, "web", ""},
		"there is no such container":        {[]corev1.ContainerStatus{crashed("web", 5)}, "other", ""},
		"not started yet":                   {[]corev1.ContainerStatus{{Name: "web"}}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := viewOf(t, webPod("web-1", statuses(test.statuses...)), electionPolicy("p", func(s *v1alpha1.ElectionPolicySpec) {
				s.Failover.Container = test.container
			}))
			NewWithT(t).Expect(v.State.Candidates[0].Unavailable).To(Equal(test.want))
		})
	}
}

// A container that was started again asks for the Lease before the kubelet has
// told that it runs.
func TestAttemptOfARestartedContainer(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	f.put(t, policies, electionPolicy("p"))
	f.put(t, "v1/pods", webPod("web-1", statuses(crashed("web", 5))))
	c := startCache(t, config)
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}))
	attempt := func(seconds time.Duration, identity string) string {
		at := start.Add(seconds * time.Second)
		b, err := c.Attempt(Attempt{New: renewedAt(identity, at), Time: at, User: boundTo("ns", "web-1", "uid-web-1")})
		g.Expect(err).NotTo(HaveOccurred())
		return b.State.Candidates[0].Unavailable
	}
	g.Expect(attempt(4, "web-1_a")).To(Equal(noContainerRuns), "before the crash")
	g.Expect(attempt(7, "web-1_b")).To(BeEmpty())
}

func TestHolderPods(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	f.put(t, policies, electionPolicy("p"))
	c := startCache(t, config)
	f.put(t, "v1/pods", webPod("web-1"))
	f.put(t, "v1/pods", webPod("web-2"))
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1", "web-2"}))
	holders := func(identity string) []string {
		v, err := c.View(webKey, nil, start)
		g.Expect(err).NotTo(HaveOccurred())
		var found []string
		for _, p := range v.HolderPods(identity) {
			found = append(found, fmt.Sprintf("%s %t %d", p.Pod.UID, p.Proved, len(p.Pod.Status.ContainerStatuses)))
		}
		return found
	}
	g.Expect(holders("web-1_a")).To(Equal([]string{"uid-web-1 false 0"}))
	g.Expect(holders("stranger")).To(BeEmpty())
	_, err := c.Attempt(Attempt{New: renewedAt("web-1_a", start), Time: start, User: boundTo("ns", "web-1", "uid-web-1")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(holders("web-1_a")).To(Equal([]string{"uid-web-1 true 0"}))

	// It is deleted, and is remembered as it was in the end.
	terminating := func(p *corev1.Pod) { p.DeletionTimestamp = ptr(metav1.NewTime(start)) }
	f.put(t, "v1/pods", webPod("web-1", terminating, statuses(crashed("web", 5))))
	f.remove("v1/pods", "ns", "web-1")
	eventually(t, viewNames(c)).Should(Equal([]string{"web-2"}))
	g.Expect(holders("web-1_a")).To(Equal([]string{"uid-web-1 false 1"}))

	// Another Pod of that name is not the one whose token came with the identity.
	f.put(t, "v1/pods", webPod("web-1", func(p *corev1.Pod) { p.UID = "uid-later" }))
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1", "web-2"}))
	g.Expect(holders("web-1_a")).To(Equal([]string{"uid-web-1 true 1"}))

	// One that only got other labels was not deleted.
	f.put(t, "v1/pods", webPod("web-2", func(p *corev1.Pod) { p.Labels = nil }))
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}))
	g.Expect(holders("web-2_a")).To(BeEmpty())
}

func TestDepartedPodsAreBounded(t *testing.T) {
	g := NewWithT(t)
	d := newDeparted()
	gone := func(name string, uid int) *corev1.Pod {
		return webPod(name, func(p *corev1.Pod) {
			p.DeletionTimestamp, p.UID = ptr(metav1.NewTime(start)), types.UID(fmt.Sprint(uid))
		})
	}
	for i := range 2 * maxDeparted {
		d.add(gone(fmt.Sprintf("web-%d", i), i))
	}
	g.Expect(d.pool.byNamespace["ns"]).To(HaveLen(maxDeparted))
	last := 2*maxDeparted - 1
	g.Expect(d.pool.byNamespace["ns"]).To(HaveKey(fmt.Sprintf("web-%d", last)))
	for i := range 2 * maxDeparted {
		d.add(gone("same", i))
	}
	g.Expect(d.pool.byNamespace["ns"]).To(HaveLen(1))
	g.Expect(d.pool.byNamespace["ns"]["same"].UID).To(BeEquivalentTo(fmt.Sprint(last)))
}
