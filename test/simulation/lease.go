package simulation

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// order is whom the Lease tells to step down.
func order(l *coordinationv1.Lease) string {
	if l == nil {
		return ""
	}
	return l.Annotations[v1alpha1.StepDownAnnotation]
}

// ownAnnotations are those of Leasewarden's annotations that the Lease has.
func ownAnnotations(l *coordinationv1.Lease) (keys []string) {
	if l == nil {
		return nil
	}
	for _, key := range v1alpha1.LeaseAnnotations {
		if _, ok := l.Annotations[key]; ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// describe is a line of the history of a Lease: all of it that its component or
// a person sees.
func describe(l *coordinationv1.Lease) string {
	if l == nil {
		return fmt.Sprintf("%s deleted", time.Now().UTC().Format(time.StampNano))
	}
	return fmt.Sprintf("%s %q %v %v %v %v", time.Now().UTC().Format(time.StampNano), api.Holder(l), l.Spec.AcquireTime, l.Spec.RenewTime, *l.Spec.LeaseTransitions, l.Annotations)
}

func leaseDuration(l *coordinationv1.Lease) time.Duration {
	if l == nil || l.Spec.LeaseDurationSeconds == nil {
		return 0
	}
	return time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
}
