package doctor

import (
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// checkLeader looks at Leasewarden's own Lease: the replica that holds it writes
// Elections and the webhook configurations.
func checkLeader(s *snapshot) []Finding {
	const advice = "see the log of the replicas; without a leader nothing is published, and no holder steps down"
	lease := &s.lock.value
	switch {
	case apierrors.IsNotFound(s.lock.err) && s.runsWith("--leader-elect=false"):
		return ok("the one replica needs no election: --leader-elect=false")
	case apierrors.IsNotFound(s.lock.err):
		return []Finding{problem(advice, "no replica leads: there is no Lease %s/%s", s.namespace, lockName)}
	case s.lock.err != nil:
		return unread("Lease "+s.namespace+"/"+lockName, s.lock.err)
	case lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || lease.Spec.RenewTime == nil || lease.Spec.LeaseDurationSeconds == nil:
		return []Finding{problem(advice, "no replica leads: Lease %s/%s is vacant", s.namespace, lockName)}
	}
	age, term := s.now.Sub(lease.Spec.RenewTime.Time), time.Duration(*lease.Spec.LeaseDurationSeconds)*time.Second
	if age > term {
		return []Finding{problem(advice, "no replica leads: %s has not renewed Lease %s/%s for %s", *lease.Spec.HolderIdentity, s.namespace, lockName, age.Round(time.Second))}
	}
	return ok("%s leads, and renewed its Lease %s ago", *lease.Spec.HolderIdentity, max(0, age.Round(time.Second)))
}

// runsWith reports whether the Deployment gives that argument.
func (s *snapshot) runsWith(argument string) bool {
	for i := range s.deployments.value.Items {
		for _, c := range s.deployments.value.Items[i].Spec.Template.Spec.Containers {
			if slices.Contains(c.Args, argument) {
				return true
			}
		}
	}
	return false
}
