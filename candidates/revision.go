package candidates

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/picker"
)

// revisionOf names the ReplicaSet or ControllerRevision that a Pod was made
// from.
func revisionOf(pod *corev1.Pod) string {
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" {
		return hash
	}
	return pod.Labels[appsv1.ControllerRevisionHashLabelKey]
}

// numberRevisions fills in the RevisionNumbers that are missing. As soon as
// one is, none can be compared with it, so all of them are made up from the
// age of the newest Pod of each revision: in a rollout, the newer revision has
// the newer Pod.
func numberRevisions(candidates []picker.Candidate) {
	newest := map[string]time.Time{}
	missing := false
	for i := range candidates {
		c := &candidates[i]
		if c.Revision == "" {
			continue
		}
		missing = missing || c.RevisionNumber == 0
		if c.Created.After(newest[c.Revision]) {
			newest[c.Revision] = c.Created
		}
	}
	if !missing {
		return
	}
	times := make([]time.Time, 0, len(newest))
	for _, t := range newest {
		times = append(times, t)
	}
	slices.SortFunc(times, time.Time.Compare)
	for i := range candidates {
		if c := &candidates[i]; c.Revision != "" {
			n, _ := slices.BinarySearchFunc(times, newest[c.Revision], time.Time.Compare)
			c.RevisionNumber = int64(n + 1)
		}
	}
}
