package terms

import (
	"strings"
	"time"

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/candidates"
)

// grain is the precision of the times in a container's status: they are cut to
// the second in which something happened.
const grain = time.Second

// reasonStatusUnknown is what the kubelet reports of a container that it does not
// find any more. It does not know how that ended.
const reasonStatusUnknown = "ContainerStatusUnknown"

// death is the kubelet's report that the process which holds a Lease has ended.
type death struct {
	pod *corev1.Pod
	// container is the one that ended last, of those that may have held the
	// Lease, and run is how.
	container string
	run       *corev1.ContainerStateTerminated
}

// deathOf looks for the report that the holder of the Lease has ended, which is
// true of no process that may still run. It returns nil if there is none.
//
// pods are those that the holder's identity fits, container is the one that
// elects ("": not known). Times of the Lease are the holder's own, and those of
// a container its node's: one clock, so that they can be compared.
func deathOf(lease *coordinationv1.Lease, pods []candidates.HolderPod, container string) *death {
	acquired, renewed := lease.Spec.AcquireTime, lease.Spec.RenewTime
	if holderIdentity(lease) == "" || acquired == nil || renewed == nil {
		return nil
	}
	pod := holderPod(pods, acquired.Time)
	if pod == nil || !final(pod) {
		return nil
	}
	found, restarted := lastRun(pod, container, acquired.Time)
	switch {
	case found == nil:
		return nil
	case restarted && !namesProcess(holderIdentity(lease), pod):
		// The process that runs there now may go on with the same identity.
		return nil
	case renewed.After(found.run.FinishedAt.Add(grain)):
		// Somebody else renews it, whoever that is.
		return nil
	}
	return found
}

// holderPod is the one Pod that can have acquired the Lease at that time: it
// came with its token, or else was there already. Nil: there is none, or there
// are several.
func holderPod(pods []candidates.HolderPod, acquired time.Time) *corev1.Pod {
	var only *corev1.Pod
	for i := range pods {
		p := &pods[i]
		if !p.Proved && p.Pod.CreationTimestamp.After(acquired) {
			continue
		}
		if only != nil && only.UID != p.Pod.UID {
			return nil
		}
		if only == nil {
			only = p.Pod
		}
	}
	return only
}

// final reports whether what a Pod's status says of its containers is the
// kubelet's word. Of a lost node nobody can say anything.
func final(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodUnknown && pod.Status.Reason != "NodeLost"
}

// fate is what became of a container that may have held a Lease.
type fate int

const (
	// fateAbsent: it did not run when the Lease was acquired.
	fateAbsent fate = iota
	// fateUnclear: it may be running, or nobody can say.
	fateUnclear
	// fateEnded: it ran then and has ended, and not been started again.
	fateEnded
	// fateRestarted: it ran then and has ended, and was started again.
	fateRestarted
)

// lastRun returns how the last of the containers ended that ran when the Lease
// was acquired. It is nil unless all of them have ended.
func lastRun(pod *corev1.Pod, container string, acquired time.Time) (last *death, restarted bool) {
	statuses, complete := containerStatuses(pod, container)
	if !complete {
		return nil, false
	}
	for _, s := range statuses {
		run, f := fateOf(s, acquired)
		switch f {
		case fateAbsent:
			continue
		case fateUnclear:
			return nil, false
		}
		restarted = restarted || f == fateRestarted
		if last == nil || last.run.FinishedAt.Before(&run.FinishedAt) {
			last = &death{pod: pod, container: s.Name, run: run}
		}
	}
	return last, restarted
}

// containerStatuses are those of the named container, or of all containers of
// every kind. They are not complete if the kubelet has not reported on one.
func containerStatuses(pod *corev1.Pod, container string) (statuses []*corev1.ContainerStatus, complete bool) {
	known := map[string]bool{}
	for _, list := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range list {
			known[list[i].Name] = true
			if container == "" || list[i].Name == container {
				statuses = append(statuses, &list[i])
			}
		}
	}
	if container != "" {
		return statuses, len(statuses) == 1
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if !known[list[i].Name] {
				return nil, false
			}
		}
	}
	return statuses, true
}

// fateOf says what became of the run of a container that was under way at that
// time, and how it ended.
func fateOf(s *corev1.ContainerStatus, at time.Time) (*corev1.ContainerStateTerminated, fate) {
	before := s.LastTerminationState.Terminated
	switch {
	case s.State.Running != nil:
		if !s.State.Running.StartedAt.After(at) {
			return nil, fateUnclear
		}
		return earlierRun(s, before, at)
	case s.State.Terminated == nil:
		if s.ContainerID == "" && s.RestartCount == 0 && before == nil {
			return nil, fateAbsent // never started
		}
		return ofRun(before, at)
	}
	run, f := ofRun(s.State.Terminated, at)
	if f == fateUnclear && told(s.State.Terminated) {
		return earlierRun(s, before, at)
	}
	return run, f
}

// earlierRun is for a container that was started after that time: the run before
// may be the one.
func earlierRun(s *corev1.ContainerStatus, before *corev1.ContainerStateTerminated, at time.Time) (*corev1.ContainerStateTerminated, fate) {
	switch {
	case before == nil && s.RestartCount == 0:
		return nil, fateAbsent
	case before == nil || before.ContainerID == s.ContainerID:
		return nil, fateUnclear
	}
	run, f := ofRun(before, at)
	if f == fateEnded {
		f = fateRestarted
	}
	return run, f
}

// ofRun compares a run with that time. A run that began later leaves open what
// was before it.
func ofRun(run *corev1.ContainerStateTerminated, at time.Time) (*corev1.ContainerStateTerminated, fate) {
	switch {
	case !told(run) || run.StartedAt.After(at):
		return nil, fateUnclear
	case run.FinishedAt.Add(grain).Before(at):
		return nil, fateAbsent
	}
	return run, fateEnded
}

// told reports whether the kubelet says when a container ran.
func told(run *corev1.ContainerStateTerminated) bool {
	return run != nil && run.ContainerID != "" && run.Reason != reasonStatusUnknown &&
		!run.StartedAt.IsZero() && !run.FinishedAt.IsZero()
}

// namesProcess reports whether an identity belongs to one process alone, as
// client-go's <hostname>_<UUID> does: the process that comes after it in the same
// Pod has another one.
func namesProcess(identity string, pod *corev1.Pod) bool {
	_, suffix, ok := cutLast(identity, "_")
	return ok && uuid.Validate(suffix) == nil && len(suffix) == len(uuid.Nil.String()) && !strings.EqualFold(suffix, string(pod.UID))
}

// cutLast cuts s at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
