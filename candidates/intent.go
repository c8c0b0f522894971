package candidates

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// intentOf is what a person wants of the Lease of an Election, which may be
// nil.
func intentOf(e *v1alpha1.Election, now time.Time) picker.Intent {
	if e == nil {
		return picker.Intent{}
	}
	intent := picker.Intent{Paused: e.Spec.Paused}
	if !e.Status.Pin.Suspends(e.Spec.Pin, now) {
		intent.PinnedTo = e.Spec.Pin
	}
	if underWay(e, now) {
		intent.SwitchoverTo = e.Spec.Switchover.To
	}
	return intent
}

// underWay reports whether a switchover has begun and not ended. That it has
// begun stands in the status, with the moment in which it is over, so that all
// replicas go by the same deadline, also while nobody writes.
func underWay(e *v1alpha1.Election, now time.Time) bool {
	answer := e.Status.Switchover
	return answer.Answers(e.Spec.Switchover) && answer.State == v1alpha1.SwitchoverInProgress &&
		answer.Deadline != nil && now.Before(answer.Deadline.Time)
}

// sameAnswer reports whether two versions of an Election say the same of a
// switchover and of a pin.
func sameAnswer(a, b *v1alpha1.Election) bool {
	return equality.Semantic.DeepEqual(a.Status.Switchover, b.Status.Switchover) &&
		equality.Semantic.DeepEqual(a.Status.Pin, b.Status.Pin)
}
