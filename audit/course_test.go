package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	oldest    = v1alpha1.OldestEmulationVersion
	firstCome = v1alpha1.FirstCome
)

func TestCourse(t *testing.T) {
	for name, test := range map[string]struct {
		strategy v1alpha1.StrategyName
		pods     string
		log      []entry
		was      string
		would    string
		// changes and vacant are of the course as it was and under the policy.
		changes [2]int
		vacant  [2]float64
		refused string
	}{
		"the chosen one led": {
			pods:  "a-v1.36.0 b-v1.37.0",
			log:   []entry{creates(0, "a-v1.36.0_1"), renews(2, 0, "a-v1.36.0_1"), renews(4, 0, "a-v1.36.0_1")},
			was:   "a-v1.36.0 0-",
			would: "a-v1.36.0 0-",
		},
		"another one was the first, and the chosen one would have been": {
			pods:    "a-v1.36.0 b-v1.37.0",
			log:     []entry{creates(0, "b-v1.37.0_1"), renews(2, 0, "b-v1.37.0_1"), renews(4, 0, "b-v1.37.0_1")},
			was:     "b-v1.37.0 0-",
			would:   "a-v1.36.0 ~2-",
			vacant:  [2]float64{0, 2},
			refused: "NotChosen:1",
		},
		"the chosen one takes as long to try as holders take to renew": {
			pods:    "a-v1.36.0 b-v1.37.0",
			log:     []entry{creates(0, "a-v1.36.0_1"), renews(5, 0, "a-v1.36.0_1"), releases(6), acquires(7, "b-v1.37.0_1"), renews(20, 7, "b-v1.37.0_1")},
			was:     "a-v1.36.0 0-6 Released, b-v1.37.0 7-",
			would:   "a-v1.36.0 0-6 Released, a-v1.36.0 ~12-",
			changes: [2]int{1, 0},
			vacant:  [2]float64{1, 6},
			refused: "NotChosen:1",
		},
		"changes are saved while the chosen one would have led": {
			pods: "a-v1.36.0 b-v1.37.0 c-v1.37.0",
			log: []entry{creates(0, "b-v1.37.0_1"), renews(2, 0, "b-v1.37.0_1"), releases(4), acquires(5, "c-v1.37.0_1"),
				releases(8), acquires(9, "b-v1.37.0_1"), renews(11, 9, "b-v1.37.0_1")},
			was:     "b-v1.37.0 0-4 Released, c-v1.37.0 5-8 Released, b-v1.37.0 9-",
			would:   "a-v1.36.0 ~2-",
			changes: [2]int{2, 0},
			vacant:  [2]float64{2, 2},
			refused: "NotChosen:3",
		},
		"both courses are the same again once the chosen one leads": {
			pods: "a-v1.36.0 b-v1.37.0",
			log: []entry{creates(0, "b-v1.37.0_1"), renews(2, 0, "b-v1.37.0_1"), releases(4), acquires(5, "a-v1.36.0_1"),
				renews(7, 5, "a-v1.36.0_1"), releases(8), renews(9, 9, "")},
			was:     "b-v1.37.0 0-4 Released, a-v1.36.0 5-8 Released",
			would:   "a-v1.36.0 ~2-8 Released",
			changes: [2]int{1, 0},
			vacant:  [2]float64{2, 3},
			refused: "NotChosen:1",
		},
		"one that would have led is asked to stop, and holders release": {
			pods: "a-v1.36.0 b-v1.36.1 c-v1.37.0",
			log: []entry{creates(0, "c-v1.37.0_1"), releases(4), acquires(5, "c-v1.37.0_1"), renews(7, 5, "c-v1.37.0_1"),
				podIs(10, terminating(pod("a-v1.36.0"), 10)), renews(30, 5, "c-v1.37.0_1")},
			was:     "c-v1.37.0 0-4 Released, c-v1.37.0 5-",
			would:   "a-v1.36.0 ~2-10 Released, b-v1.36.1 ~12-",
			changes: [2]int{0, 1},
			vacant:  [2]float64{24, 4},
			refused: "NotChosen:2",
		},
		"one that would have led ends, and nobody releases": {
			pods: "a-v1.36.0 b-v1.36.1 c-v1.37.0",
			log: []entry{creates(0, "c-v1.37.0_1"), renews(2, 0, "c-v1.37.0_1"), renews(4, 0, "c-v1.37.0_1"),
				podIs(10, terminating(pod("a-v1.36.0"), 10)).with("verb", "delete").without("responseObject"), renews(12, 0, "c-v1.37.0_1"), renews(40, 0, "c-v1.37.0_1")},
			was:     "c-v1.37.0 0-",
			would:   "a-v1.36.0 ~2-25 Expired, b-v1.36.1 ~27-",
			changes: [2]int{0, 1},
			vacant:  [2]float64{28, 19},
			refused: "NotChosen:1",
		},
		"it expired, and the next in line took over": {
			pods:    "a-v1.36.0 b-v1.37.0",
			log:     []entry{creates(0, "a-v1.36.0_1"), renews(2, 0, "a-v1.36.0_1"), podIs(3, terminating(pod("a-v1.36.0"), 3)), acquires(18, "b-v1.37.0_1"), renews(20, 18, "b-v1.37.0_1")},
			was:     "a-v1.36.0 0-17 Expired, b-v1.37.0 18-",
			would:   "a-v1.36.0 0-17 Expired, b-v1.37.0 18-",
			changes: [2]int{1, 1},
			vacant:  [2]float64{16, 16},
		},
		"a term is not cut short": {
			pods:    "a-v1.36.0 b-v1.36.0",
			log:     []entry{creates(0, "a-v1.36.0_1"), renews(2, 0, "a-v1.36.0_1"), acquires(4, "b-v1.36.0_1"), renews(6, 4, "b-v1.36.0_1")},
			was:     "a-v1.36.0 0-4 TakenOver, b-v1.36.0 4-",
			would:   "a-v1.36.0 0-",
			changes: [2]int{1, 0},
			refused: "TermRunning:1",
		},
		"nobody chooses": {
			strategy: firstCome,
			pods:     "a-v1.36.0 b-v1.37.0",
			log:      []entry{creates(0, "b-v1.37.0_1"), releases(3), acquires(4, "a-v1.36.0_1")},
			was:      "b-v1.37.0 0-3 Released, a-v1.36.0 4-",
			would:    "b-v1.37.0 0-3 Released, a-v1.36.0 4-",
			changes:  [2]int{1, 1},
			vacant:   [2]float64{1, 1},
		},
		"the log begins in a term": {
			pods:    "a-v1.36.0 b-v1.37.0",
			log:     []entry{renews(0, -3600, "b-v1.37.0_1"), renews(2, -3600, "b-v1.37.0_1"), releases(3), acquires(4, "a-v1.36.0_1")},
			was:     "b-v1.37.0 -3600-3 Released, a-v1.36.0 4-",
			would:   "b-v1.37.0 -3600-3 Released, a-v1.36.0 4-",
			changes: [2]int{1, 1},
			vacant:  [2]float64{1, 1},
		},
		"an attempt that was refused then, and is now": {
			pods: "a-v1.36.0 b-v1.37.0",
			log: []entry{creates(0, "b-v1.37.0_1").code(403, `admission webhook "leases.leasewarden.dev" denied the request: no`),
				creates(1, "a-v1.36.0_1"), renews(3, 1, "a-v1.36.0_1")},
			was:     "a-v1.36.0 1-",
			would:   "a-v1.36.0 1-",
			refused: "NotChosen:1",
		},
		"an attempt that was refused then, and would not be": {
			strategy: v1alpha1.NewestVersion,
			pods:     "a-v1.36.0 b-v1.37.0",
			log: []entry{creates(0, "b-v1.37.0_1").code(403, `admission webhook "leases.leasewarden.dev" denied the request: no`),
				creates(1, "a-v1.36.0_1"), renews(3, 1, "a-v1.36.0_1")},
			was:     "a-v1.36.0 1-",
			would:   "b-v1.37.0 ~0-",
			refused: "NotChosen:1",
		},
		"what the authorizer refuses is no attempt": {
			pods: "a-v1.36.0 b-v1.37.0",
			log: []entry{creates(0, "b-v1.37.0_1").code(403, `leases.coordination.k8s.io is forbidden: User "x" cannot create`),
				creates(1, "a-v1.36.0_1")},
			was:   "a-v1.36.0 1-",
			would: "a-v1.36.0 1-",
		},
		"conflicts and trials are no attempts": {
			pods: "a-v1.36.0 b-v1.37.0",
			log: []entry{creates(0, "a-v1.36.0_1"), acquires(1, "b-v1.37.0_1").code(409, "the object has been modified"),
				acquires(2, "b-v1.37.0_1").with("requestURI", "/x?dryRun=All"), renews(3, 0, "a-v1.36.0_1")},
			was:   "a-v1.36.0 0-",
			would: "a-v1.36.0 0-",
		},
		"an identity that nobody registered": {
			pods:    "a-v1.36.0",
			log:     []entry{creates(0, "x_1"), renews(2, 0, "x_1")},
			was:     "x_1 0-",
			would:   "a-v1.36.0 ~2-",
			vacant:  [2]float64{0, 2},
			refused: "NotRegistered:1",
		},
		"nobody passes the filters, and the deadline goes by": {
			pods:    "a-none b-none",
			log:     []entry{creates(0, "b-none_1"), renews(2, 0, "b-none_1"), renews(30, 0, "b-none_1")},
			was:     "b-none 0-",
			would:   "a-none ~15-",
			vacant:  [2]float64{28, 15},
			refused: "NotEligible:1",
		},
		"deleted, and made anew": {
			pods:   "a-v1.36.0 b-v1.37.0",
			log:    []entry{creates(0, "a-v1.36.0_1"), deletes(4), creates(5, "a-v1.36.0_1"), renews(7, 5, "a-v1.36.0_1")},
			was:    "a-v1.36.0 0-4 Deleted, a-v1.36.0 5-",
			would:  "a-v1.36.0 0-4 Deleted, a-v1.36.0 5-",
			vacant: [2]float64{1, 1},
		},
		"patches": {
			pods: "a-v1.36.0 b-v1.37.0",
			log: []entry{creates(0, "a-v1.36.0_1"),
				releases(2).with("verb", "patch").with("requestObject", map[string]any{"spec": map[string]any{"holderIdentity": nil}}),
				acquires(3, "").with("verb", "patch").with("requestObject", []any{map[string]any{"op": "add", "path": "/spec/holderIdentity", "value": "b-v1.37.0_1"}})},
			was:     "a-v1.36.0 0-2 Released, b-v1.37.0 3-",
			would:   "a-v1.36.0 0-2 Released",
			changes: [2]int{1, 0},
			vacant:  [2]float64{1, 1},
			refused: "NotChosen:1",
		},
		"no candidate is known": {
			log:     []entry{creates(0, "a-v1.36.0_1"), renews(2, 0, "a-v1.36.0_1")},
			was:     "a-v1.36.0_1 0-",
			would:   "not known",
			refused: "NotRegistered:1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.strategy == "" {
				test.strategy = oldest
			}
			p := policy(test.strategy)
			r := run(t, Options{Objects: objects(p, strings.Fields(test.pods)...)}, text(t, test.log))
			if len(r.Leases) != 1 {
				t.Fatalf("leases are %+v", r.Leases)
			}
			l := &r.Leases[0]
			if got := describe(&l.AsItWas); got != test.was {
				t.Errorf("as it was: %s\nwant:      %s", got, test.was)
			}
			if got := describe(l.UnderPolicy); got != test.would {
				t.Errorf("under the policy: %s\nwant:             %s", got, test.would)
			}
			if l.UnderPolicy != nil {
				if got := [2]int{l.AsItWas.Changes, l.UnderPolicy.Changes}; got != test.changes {
					t.Errorf("changes are %v, want %v", got, test.changes)
				}
				if got := [2]float64{l.AsItWas.WithoutLeader, l.UnderPolicy.WithoutLeader}; got != test.vacant {
					t.Errorf("seconds without a leader are %v, want %v", got, test.vacant)
				}
			}
			refused := ""
			for reason, n := range l.Attempts.Reasons {
				refused += fmt.Sprintf("%s:%d", reason, n)
			}
			if refused != test.refused {
				t.Errorf("refused are %s, want %s", refused, test.refused)
			}
		})
	}
}
