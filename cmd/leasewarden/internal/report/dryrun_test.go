package report

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestDryRunText(t *testing.T) {
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: drawnAt.Add(-d)} }
	for name, test := range map[string]struct {
		dryRun *v1alpha1.DryRunStatus
		want   string
		// other is what the overview says.
		other string
	}{
		"none": {},
		"the same leader": {dryRun: &v1alpha1.DryRunStatus{Since: *ago(time.Hour), Leader: "a", LeaderChanges: 2, HolderChanges: 2},
			want: "for 60m, the same would lead; 2 changes of the leader instead of 2"},
		"nobody": {dryRun: &v1alpha1.DryRunStatus{Since: *ago(time.Hour)},
			want: "for 60m, nobody would lead; 0 changes of the leader instead of 0", other: "in dry-run: nobody would lead"},
		"another leader": {dryRun: &v1alpha1.DryRunStatus{Since: *ago(time.Hour), Leader: "b", LeaderChanges: 1, HolderChanges: 3, WouldDo: "a would be told to step down"},
			want: "for 60m, b would lead; 1 change of the leader instead of 3; a would be told to step down", other: "in dry-run: b would lead"},
		"ended": {dryRun: &v1alpha1.DryRunStatus{Since: *ago(3 * time.Hour), Until: ago(time.Hour), Leader: "b"},
			want: "ended 60m ago, after 120m; 0 changes of the leader instead of 0"},
	} {
		e := &v1alpha1.Election{Status: v1alpha1.ElectionStatus{DryRun: test.dryRun, Holder: &v1alpha1.ElectionHolder{Name: "a"}}}
		if got := dryRunText(e, drawnAt); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if got := otherLeader(e, drawnAt); got != test.other {
			t.Errorf("%s: the overview says %q, want %q", name, got, test.other)
		}
	}
}
