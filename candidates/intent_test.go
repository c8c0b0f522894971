package candidates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func TestIntentOf(t *testing.T) {
	in := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: start.Add(d)} }
	answer := func(to string, state v1alpha1.SwitchoverState, deadline *metav1.Time) v1alpha1.ElectionStatus {
		return v1alpha1.ElectionStatus{Switchover: &v1alpha1.SwitchoverStatus{To: to, State: state, Deadline: deadline}}
	}
	moveTo := func(to string) v1alpha1.ElectionSpec {
		return v1alpha1.ElectionSpec{Switchover: &v1alpha1.Switchover{To: to}}
	}
	for name, test := range map[string]struct {
		spec   v1alpha1.ElectionSpec
		status v1alpha1.ElectionStatus
		want   picker.Intent
	}{
		"nothing":                         {},
		"a pause":                         {spec: v1alpha1.ElectionSpec{Paused: true}, want: picker.Intent{Paused: true}},
		"a pin":                           {spec: v1alpha1.ElectionSpec{Pin: "a"}, want: picker.Intent{PinnedTo: "a"}},
		"a suspended pin":                 {spec: v1alpha1.ElectionSpec{Pin: "a"}, status: v1alpha1.ElectionStatus{Pin: &v1alpha1.PinStatus{To: "a", RetryAfter: in(time.Second)}}},
		"a pin that was":                  {spec: v1alpha1.ElectionSpec{Pin: "a"}, status: v1alpha1.ElectionStatus{Pin: &v1alpha1.PinStatus{To: "a", RetryAfter: in(0)}}, want: picker.Intent{PinnedTo: "a"}},
		"another pin was":                 {spec: v1alpha1.ElectionSpec{Pin: "a"}, status: v1alpha1.ElectionStatus{Pin: &v1alpha1.PinStatus{To: "b", RetryAfter: in(time.Second)}}, want: picker.Intent{PinnedTo: "a"}},
		"a switchover nobody took up":     {spec: moveTo("a")},
		"a switchover":                    {spec: moveTo("a"), status: answer("a", v1alpha1.SwitchoverInProgress, in(time.Second)), want: picker.Intent{SwitchoverTo: "a"}},
		"a switchover that took too long": {spec: moveTo("a"), status: answer("a", v1alpha1.SwitchoverInProgress, in(0))},
		"a switchover that has ended":     {spec: moveTo("a"), status: answer("a", v1alpha1.SwitchoverFailed, in(time.Second))},
		"a switchover for later":          {spec: moveTo("a"), status: answer("a", v1alpha1.SwitchoverScheduled, nil)},
		"a switchover without an end":     {spec: moveTo("a"), status: answer("a", v1alpha1.SwitchoverInProgress, nil)},
		"another one is in progress":      {spec: moveTo("a"), status: answer("b", v1alpha1.SwitchoverInProgress, in(time.Second))},
		"it was withdrawn":                {status: answer("a", v1alpha1.SwitchoverInProgress, in(time.Second))},
	} {
		t.Run(name, func(t *testing.T) {
			e := &v1alpha1.Election{Spec: test.spec, Status: test.status}
			if diff := cmp.Diff(test.want, intentOf(e, start)); diff != "" {
				t.Errorf("intent (-want +got):\n%s", diff)
			}
		})
	}
	if got := intentOf(nil, start); got != (picker.Intent{}) {
		t.Errorf("without an Election: %+v", got)
	}
}
