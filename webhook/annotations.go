package webhook

import (
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// stamps are the annotations that the mutating half writes on an acquire.
var stamps = []string{
	v1alpha1.ElectedAnnotation,
	v1alpha1.ElectedByAnnotation,
	v1alpha1.StrategyAnnotation,
	v1alpha1.CriterionAnnotation,
}

// protectedChange returns the first of our annotations, by name, that a write
// changes although only Leasewarden may, or "".
//
// Stamps may change together with the holder: the validating half sees what the
// mutating half has just written. All of them may also get lost in a renewal or
// an acquire, because a client that writes whole objects knows nothing of them,
// and must not lose its Lease for that: a holder that was told to step down is
// ruled on by the order that the Lease had. A release is never held up.
func protectedChange(t Transition, old, new *coordinationv1.Lease) string {
	if t == Release || t == Delete {
		return ""
	}
	before, after := annotations(old), annotations(new)
	for _, key := range slices.Sorted(slices.Values(v1alpha1.LeaseAnnotations)) {
		was, had := before[key]
		is, has := after[key]
		switch {
		case was == is && had == has:
		case t.Contests() && slices.Contains(stamps, key):
		case !has && (t.Contests() || t == Renew):
		default:
			return key
		}
	}
	return ""
}

func annotations(l *coordinationv1.Lease) map[string]string {
	if l == nil {
		return nil
	}
	return l.Annotations
}
