package candidates

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// HolderPod is a Pod that may be the one that writes a holder identity.
type HolderPod struct {
	// Pod is trimmed to what this package keeps (see Cache), and must not be
	// changed. If it was deleted, it is as it was in the end.
	Pod *corev1.Pod
	// Proved says that a token bound to that very Pod came with the identity.
	Proved bool
}

// HolderPods are the Pods that a holder identity fits: those that there are, and
// those that were deleted lately. A Pod is left out if another one, of the same
// name maybe, is known to have written the identity.
func (v *View) HolderPods(identity string) []HolderPod {
	var found []HolderPod
	proof := v.roster.proof(identity)
	for _, r := range []*roster{v.roster, v.departed} {
		if r == nil {
			continue
		}
		for _, i := range r.match(identity) {
			pod := r.instances[i].pod
			if pod != nil && (proof == "" || proof == pod.UID) {
				found = append(found, HolderPod{Pod: pod, Proved: proof != ""})
			}
		}
	}
	return found
}

// proof is the UID of the Pod whose token came with that very identity. Empty:
// not known.
func (r *roster) proof(identity string) types.UID {
	for i := range r.instances {
		if n := &r.instances[i]; n.proved != "" && n.identity == identity {
			return n.proved
		}
	}
	return ""
}

// recall adds the Pods that were deleted lately.
func (v *View) recall(objects Objects, p *Policy, lease types.NamespacedName) *View {
	if p.pods == nil {
		return v
	}
	pods := objects.Departed(p, lease)
	if len(pods) == 0 {
		return v
	}
	past := assembly{objects: objects, policy: p, lease: lease, now: v.State.Now}
	past.roster = newRoster(lease.Namespace, p.pods.pattern, len(pods))
	for _, pod := range pods {
		past.addPod(pod)
	}
	v.departed = past.roster
	return v
}
