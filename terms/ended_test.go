package terms

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/candidates"
)

const processSuffix = "_5b6ae0b7-9b7e-4f0b-8d2b-0d1a7cf2f6b6"

// ran is a run of a container that has ended.
func ran(id string, from, to float64) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ContainerID: id, ExitCode: 137, StartedAt: metav1.NewTime(at(from)), FinishedAt: metav1.NewTime(at(to)),
	}
}

// containerOf is the status of a container whose runs have ended, the last one
// last. It is not started again yet, which the kubelet shows as terminated.
func containerOf(name string, runs ...*corev1.ContainerStateTerminated) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name}
	for _, r := range runs {
		if s.State.Terminated != nil {
			s.RestartCount++
		}
		s.LastTerminationState.Terminated, s.State.Terminated, s.ContainerID = s.State.Terminated, r, r.ContainerID
	}
	return s
}

// restartedAt has the container run again.
func restartedAt(s corev1.ContainerStatus, id string, from float64) corev1.ContainerStatus {
	if s.State.Terminated != nil {
		s.LastTerminationState.Terminated, s.RestartCount = s.State.Terminated, s.RestartCount+1
	}
	s.State, s.ContainerID = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at(from))}}, id
	return s
}

// backingOff has the container wait to be started again.
func backingOff(s corev1.ContainerStatus) corev1.ContainerStatus {
	s.LastTerminationState.Terminated = s.State.Terminated
	s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	return s
}

// podWith is the Pod a-0, created at 10, with containers of those statuses.
func podWith(statuses ...corev1.ContainerStatus) *corev1.Pod {
	pod := podOf("a-0", "v1.36.0")
	pod.CreationTimestamp = metav1.NewTime(at(10))
	for i := range statuses {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: statuses[i].Name})
	}
	pod.Status.ContainerStatuses = statuses
	return pod
}

func changed(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	change(pod)
	return pod
}

// The Lease was acquired at 100.5, and last renewed at 120.5.
func TestDeathOf(t *testing.T) {
	dead := containerOf("main", ran("1", 20, 121))
	unknown := containerOf("main", ran("1", 20, 121))
	unknown.State.Terminated.Reason = reasonStatusUnknown
	withoutTimes := containerOf("main", ran("1", 20, 121))
	withoutTimes.State.Terminated.FinishedAt = metav1.Time{}
	withoutID := containerOf("main", ran("", 20, 121))
	fresh := corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}
	sidecar := restartedAt(corev1.ContainerStatus{Name: "sidecar"}, "s", 15)
	deadSidecar := containerOf("sidecar", ran("s", 15, 125))

	tests := []struct {
		name     string
		identity string // "": one of a process
		pod      *corev1.Pod
		// container elects; others are more Pods that the identity fits.
		container string
		others    []candidates.HolderPod
		proved    bool
		renewed   float64 // 0: 120.5
		want      string  // the container that ended; "": the Lease is not released
	}{
		{name: "its container has ended", pod: podWith(dead), want: "main"},
		{name: "it waits to be started again", pod: podWith(backingOff(dead)), want: "main"},
		{name: "it was started again", pod: podWith(restartedAt(dead, "2", 122)), want: "main"},
		{name: "it was started again, and has ended again", pod: podWith(containerOf("main", ran("1", 20, 121), ran("2", 122, 130))), want: "main"},
		{name: "it was started again, and waits after that", pod: podWith(backingOff(containerOf("main", ran("1", 20, 121), ran("2", 122, 130))))},
		{name: "it runs", pod: podWith(restartedAt(corev1.ContainerStatus{Name: "main"}, "1", 20))},
		{name: "it was started in the second of the acquire", pod: podWith(restartedAt(containerOf("main", ran("1", 20, 99)), "2", 100))},
		{name: "it was started again in the very moment, by the clock", pod: podWith(restartedAt(containerOf("main", ran("1", 20, 100)), "2", 101)), renewed: 100.6, want: "main"},
		{name: "nobody said how it ended", pod: podWith(unknown)},
		{name: "nobody said when it ended", pod: podWith(withoutTimes)},
		{name: "nobody said which run it was", pod: podWith(withoutID)},
		{name: "it ended before the acquire", pod: podWith(containerOf("main", ran("1", 20, 99)))},
		{name: "it never started", pod: podWith(fresh)},
		{name: "an older run is not reported any more", pod: podWith(restartedAt(containerOf("main", ran("3", 110, 115)), "4", 116))},
		{name: "the runs are reported twice", pod: podWith(restartedAt(dead, "1", 122))},
		{name: "renewed within the second", pod: podWith(dead), renewed: 121.9, want: "main"},
		{name: "renewed after it ended", pod: podWith(dead), renewed: 122.1},
		{name: "nothing is reported", pod: changed(podWith(dead), func(p *corev1.Pod) { p.Status.ContainerStatuses = nil })},

		{name: "another container runs", pod: podWith(dead, sidecar)},
		{name: "another container runs, but does not elect", pod: podWith(dead, sidecar), container: "main", want: "main"},
		{name: "the one that elects runs", pod: podWith(deadSidecar, restartedAt(corev1.ContainerStatus{Name: "main"}, "1", 20)), container: "main"},
		{name: "there is no container of that name", pod: podWith(dead), container: "other"},
		{name: "both have ended", pod: podWith(dead, deadSidecar), want: "sidecar"},
		{name: "another container was started later", pod: podWith(dead, restartedAt(corev1.ContainerStatus{Name: "sidecar"}, "s", 110)), want: "main"},
		{name: "an init container had ended before", pod: changed(podWith(dead), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "init"}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{containerOf("init", ran("i", 12, 15))}
		}), want: "main"},
		{name: "a sidecar among the init containers runs", pod: changed(podWith(dead), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "sidecar"}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{sidecar}
		})},
		{name: "an init container is not reported", pod: changed(podWith(dead), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "init"}}
		})},
		{name: "somebody debugs it", pod: changed(podWith(dead), func(p *corev1.Pod) {
			p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{restartedAt(corev1.ContainerStatus{Name: "debug"}, "d", 90)}
		})},

		{name: "an identity that is not the process's alone", identity: "a-0", pod: podWith(dead), want: "main"},
		{name: "such an identity, and started again", identity: "a-0", pod: podWith(restartedAt(dead, "2", 122))},
		{name: "such an identity, with a suffix", identity: "a-0_leader", pod: podWith(restartedAt(dead, "2", 122))},
		{name: "such an identity, with the Pod's UID", identity: "a-0" + processSuffix, pod: changed(podWith(restartedAt(dead, "2", 122)), func(p *corev1.Pod) {
			p.UID = types.UID(processSuffix[1:])
		})},

		{name: "deleted by force while it ran", pod: changed(podWith(restartedAt(corev1.ContainerStatus{Name: "main"}, "1", 20)), func(p *corev1.Pod) {
			deleted := metav1.NewTime(at(121))
			p.DeletionTimestamp = &deleted
		})},
		{name: "failed, but its containers run as far as anybody knows", pod: changed(podWith(restartedAt(corev1.ContainerStatus{Name: "main"}, "1", 20)), func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
		})},
		{name: "its phase is unknown", pod: changed(podWith(dead), func(p *corev1.Pod) { p.Status.Phase = corev1.PodUnknown })},
		{name: "its node is lost", pod: changed(podWith(dead), func(p *corev1.Pod) { p.Status.Reason = "NodeLost" })},

		{name: "created after the acquire", pod: changed(podWith(dead), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(at(101)) })},
		{name: "created after the acquire by another clock", proved: true, want: "main",
			pod: changed(podWith(dead), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(at(101)) })},
		{name: "no Pod"},
		{name: "one of two Pods", pod: podWith(dead), others: []candidates.HolderPod{
			{Pod: changed(podWith(dead), func(p *corev1.Pod) { p.UID = "other" })},
		}},
		{name: "a later Pod of that name", pod: podWith(dead), want: "main", others: []candidates.HolderPod{
			{Pod: changed(podWith(sidecar), func(p *corev1.Pod) { p.UID, p.CreationTimestamp = "later", metav1.NewTime(at(121)) })},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			identity, renewed := test.identity, test.renewed
			if identity == "" {
				identity = "a-0" + processSuffix
			}
			if renewed == 0 {
				renewed = 120.5
			}
			pods := test.others
			if test.pod != nil {
				pods = append(pods, candidates.HolderPod{Pod: test.pod, Proved: test.proved})
			}
			got := ""
			if d := deathOf(held(identity, 100.5, renewed), pods, test.container); d != nil {
				got = d.container
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDeathNeedsTheTimesOfTheLease(t *testing.T) {
	pods := []candidates.HolderPod{{Pod: podWith(containerOf("main", ran("1", 20, 121)))}}
	for name, change := range map[string]func(*coordinationv1.LeaseSpec){
		"no holder":      func(s *coordinationv1.LeaseSpec) { s.HolderIdentity = nil },
		"no acquireTime": func(s *coordinationv1.LeaseSpec) { s.AcquireTime = nil },
		"no renewTime":   func(s *coordinationv1.LeaseSpec) { s.RenewTime = nil },
	} {
		lease := held("a-0", 100.5, 120.5)
		if deathOf(lease, pods, "") == nil {
			t.Fatal("it is not released at all")
		}
		change(&lease.Spec)
		if deathOf(lease, pods, "") != nil {
			t.Errorf("%s: it is released", name)
		}
	}
}
