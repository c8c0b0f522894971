package terms

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// wanted is what people want of a Lease: the spec of its Election.
type wanted struct {
	spec v1alpha1.ElectionSpec
	// uid, version and generation are those of the Election.
	uid        types.UID
	version    string
	generation int64
}

// take takes up the spec, unless a newer one is known. An Election that was made
// anew counts its generations from 1 again.
func (w *wanted) take(e *v1alpha1.Election) {
	if e.UID == w.uid && e.Generation < w.generation || e.UID != w.uid && !newer(e.ResourceVersion, w.version) {
		return
	}
	*w = wanted{spec: publishable(e.Spec), uid: e.UID, version: e.ResourceVersion, generation: e.Generation}
}

// isEmpty reports whether nobody wants anything.
func (w *wanted) isEmpty() bool { return w.spec == v1alpha1.ElectionSpec{} }

// The first and the last time that a status can have. The zero time is written
// as null.
var (
	firstTime = time.Date(1, time.January, 1, 0, 0, 1, 0, time.UTC)
	lastTime  = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
)

// publishable is the spec with times that the status can repeat. CRDs of before
// admit others, and one of them would keep the Election from being published.
func publishable(spec v1alpha1.ElectionSpec) v1alpha1.ElectionSpec {
	if spec.Switchover == nil || spec.Switchover.At == nil {
		return spec
	}
	request := *spec.Switchover
	switch at := request.At.Time; {
	case at.IsZero():
		request.At = nil
	case at.Before(firstTime):
		request.At = &metav1.Time{Time: firstTime}
	case at.After(lastTime):
		request.At = &metav1.Time{Time: lastTime}
	}
	spec.Switchover = &request
	return spec
}
