package candidates

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func benchKey(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("lease-%d", i)}
}

// benchCache is a filled Cache without an API server: one policy that governs
// all leases, whose Pods name the Lease they are candidates for.
func benchCache(leases, podsEach int, mutate ...func(*v1alpha1.ElectionPolicySpec)) *Cache {
	mutate = append(mutate, func(s *v1alpha1.ElectionPolicySpec) {
		s.Leases.Names = []string{"lease-*"}
		s.Candidates.Pods.LeaseName = &v1alpha1.FieldSource{FromLabel: "lease"}
		s.Candidates.Pods.Version = &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{}}
	})
	c := &Cache{state: newState(""), ledger: newLedger(), registrar: newRegistrar(nil, clock.RealClock{}, logr.Discard()), started: true}
	c.served.known = true
	_, p := c.state.setPolicy(electionPolicy("p", mutate...))
	sc := &podScope{pool: newPodPool(), revisions: revisions{}, users: map[*Policy]struct{}{p: {}}, filled: func() bool { return true }}
	sc.pool.indexLeases(*p.pods.LeaseName)
	c.state.scopes[scope{"ns", p.pods.key}] = sc
	for i := range leases {
		c.state.track(benchKey(i))
		for j := range podsEach {
			c.state.podChanged(sc, nil, benchPod(i, j))
		}
	}
	c.state.takeTouched()
	return c
}

func benchPod(lease, n int) *corev1.Pod {
	return trimPod(webPod(fmt.Sprintf("web-%d-%d", lease, n), func(p *corev1.Pod) {
		p.Labels["lease"] = benchKey(lease).Name
		p.Spec.NodeName = fmt.Sprintf("node-%d", n)
	}))
}

// One attempt, by the number of candidates of its Lease.
func BenchmarkAttempt(b *testing.B) {
	for _, pods := range []int{5, 100, 1000} {
		b.Run(fmt.Sprintf("%d candidates", pods), func(b *testing.B) {
			c := benchCache(1, pods)
			old, now := lease(""), renewedAt("web-0-3_a", start)
			old.Name, now.Name = benchKey(0).Name, benchKey(0).Name
			a := Attempt{Old: old, New: now, Time: start, User: boundTo("ns", "web-0-3", "uid-web-0-3")}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Attempt(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One attempt with coordinated electors: every Pod has a LeaseCandidate.
func BenchmarkAttemptMerged(b *testing.B) {
	for _, pods := range []int{5, 100, 1000} {
		b.Run(fmt.Sprintf("%d candidates", pods), func(b *testing.B) {
			c := benchCache(1, pods)
			for i := range pods {
				lc := leaseCandidate(fmt.Sprintf("web-0-%d_a", i), "1.37.0", "1.37.0")
				lc.Spec.LeaseName = benchKey(0).Name
				c.state.leaseCandidateChanged((*coordinationv1beta1.LeaseCandidate)(nil), lc)
			}
			now := renewedAt("web-0-3_a", start)
			now.Name = benchKey(0).Name
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Attempt(Attempt{New: now, Time: start}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A change of one Pod costs the same with 10 governed Leases and with 10,000;
// so does looking at one Lease.
func BenchmarkEvent(b *testing.B) {
	for _, leases := range []int{10, 100, 1000, 10_000} {
		c := benchCache(leases, 3)
		sc := c.state.scopes[scope{"ns", "app=web"}]
		key := benchKey(7)
		ready, other := benchPod(7, 1), benchPod(7, 1)
		other.Status.Conditions[0].Status = corev1.ConditionFalse
		b.Run(fmt.Sprintf("change/%d leases", leases), func(b *testing.B) {
			b.ReportAllocs()
			old, now := ready, other
			c.state.podChanged(sc, nil, ready)
			for b.Loop() {
				c.state.podChanged(sc, old, now)
				if touched, _ := c.state.takeTouched(); len(touched) != 1 {
					b.Fatalf("touched %d leases", len(touched))
				}
				old, now = now, old
			}
		})
		b.Run(fmt.Sprintf("view/%d leases", leases), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.View(key, nil, start); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestEventCostDoesNotGrow holds the ratio that BenchmarkEvent measures, with
// room for a busy machine: a cost by the number of Leases would make it 1,000.
func TestEventCostDoesNotGrow(t *testing.T) {
	cost := func(leases int) float64 {
		c := benchCache(leases, 3)
		sc := c.state.scopes[scope{"ns", "app=web"}]
		old, now := benchPod(7, 1), benchPod(7, 1)
		now.Status.Conditions[0].Status = corev1.ConditionFalse
		return testing.AllocsPerRun(100, func() {
			c.state.podChanged(sc, old, now)
			if touched, _ := c.state.takeTouched(); len(touched) != 1 {
				t.Fatalf("touched %d leases", len(touched))
			}
			old, now = now, old
		})
	}
	few, many := cost(10), cost(10_000)
	if many > few+1 {
		t.Errorf("one change allocates %.0f times with 10,000 leases, %.0f times with 10", many, few)
	}
}

// A renewal, as every replica sees all of them. Most are of Leases that nobody
// governs.
func BenchmarkObserve(b *testing.B) {
	c := benchCache(1000, 3)
	other := types.NamespacedName{Namespace: "ns", Name: "other"}
	c.state.track(other)
	for name, key := range map[string]types.NamespacedName{"governed": benchKey(7), "not governed": other} {
		b.Run(name, func(b *testing.B) {
			l := renewedAt("web-7-1_a", start)
			l.Name = key.Name
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l.Spec.RenewTime.Time = start.Add(time.Duration(i))
				c.Observe(l, start)
			}
		})
	}
}
