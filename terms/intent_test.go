package terms

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func pinnedTo(pin string, uid types.UID, generation int64, version string) *v1alpha1.Election {
	return &v1alpha1.Election{
		ObjectMeta: metav1.ObjectMeta{UID: uid, Generation: generation, ResourceVersion: version},
		Spec:       v1alpha1.ElectionSpec{Pin: pin},
	}
}

// The newest spec counts, in whatever order they are seen, and an Election that
// was made anew begins at generation 1.
func TestWantedTakesTheNewest(t *testing.T) {
	for name, test := range map[string]struct {
		seen []*v1alpha1.Election
		want string
	}{
		"a newer one":       {[]*v1alpha1.Election{pinnedTo("a", "1", 1, "10"), pinnedTo("b", "1", 2, "11")}, "b"},
		"an older one":      {[]*v1alpha1.Election{pinnedTo("b", "1", 2, "11"), pinnedTo("a", "1", 1, "10")}, "b"},
		"made anew":         {[]*v1alpha1.Election{pinnedTo("a", "1", 5, "10"), pinnedTo("b", "2", 1, "12")}, "b"},
		"before it was so":  {[]*v1alpha1.Election{pinnedTo("b", "2", 1, "12"), pinnedTo("a", "1", 5, "10")}, "b"},
		"anew, and changed": {[]*v1alpha1.Election{pinnedTo("a", "1", 5, "10"), pinnedTo("b", "2", 1, "12"), pinnedTo("c", "2", 2, "13")}, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			var w wanted
			for _, e := range test.seen {
				w.take(e)
			}
			if w.spec.Pin != test.want {
				t.Errorf("the pin is %q, want %q", w.spec.Pin, test.want)
			}
		})
	}
}

// A time that no status can repeat, which older CRDs admit, does not keep an
// Election from being published.
func TestPublisherOutlastsATimeThatCannotBeWritten(t *testing.T) {
	for at, state := range map[string]v1alpha1.SwitchoverState{
		"0001-01-01T00:00:00Z":      v1alpha1.SwitchoverInProgress,
		"0000-01-01T00:00:00+23:00": v1alpha1.SwitchoverFailed,
		"9999-12-31T23:59:59-23:00": v1alpha1.SwitchoverScheduled,
	} {
		t.Run(at, func(t *testing.T) {
			var when metav1.Time
			if err := json.Unmarshal([]byte(`"`+at+`"`), &when); err != nil {
				t.Fatal(err)
			}
			election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease", UID: "1", Generation: 1}}
			request := &v1alpha1.Switchover{To: "a-1", At: when.DeepCopy()}
			inBubble(t, func(t *testing.T, c *cluster) {
				c.elections.use(policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a-0", "v1.36.0"), podOf("a-1", "v1.37.0"))
				// The fake API server could not keep it either.
				c.elections.spec = &v1alpha1.ElectionSpec{Switchover: request}
				c.lease("lease", "a-0_1", time.Now())
				c.start()
				answer := c.election("lease").Status.Switchover
				if answer == nil || answer.State != state {
					t.Fatalf("the answer is %+v, want %s", answer, state)
				}
				if answer.At != nil && (answer.At.IsZero() || answer.At.UTC().Year() > 9999) {
					t.Errorf("its time is %s", answer.At)
				}
				if *request.At != when {
					t.Error("the object of the cache was changed")
				}
			}, election)
		})
	}
}
