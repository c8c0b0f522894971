package simulation

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// namespace is where the components run, ownNamespace where Leasewarden does.
const (
	namespace    = "apps"
	ownNamespace = "leasewarden-system"
)

// timing is how an elector is configured.
type timing struct{ lease, renew, retry time.Duration }

// odd keeps a renew deadline from falling together with a retry: which of them an
// elector then notices first is up to chance.
const odd = 777 * time.Microsecond

// timings are those that are in use: the usual ones first.
var timings = []timing{
	{15 * time.Second, 10*time.Second + odd, 2 * time.Second},
	{15 * time.Second, 10*time.Second + odd, 2 * time.Second},
	{5 * time.Second, 3*time.Second + odd, 500 * time.Millisecond},
	{8 * time.Second, 5*time.Second + odd, time.Second},
	{60 * time.Second, 40*time.Second + odd, 5 * time.Second},
}

// slack is how much longer than its holder's belief a Lease lasts. An answer must
// not take longer, or client-go alone has two leaders.
func (t timing) slack() time.Duration { return t.lease - t.renew - t.retry }

// timeout is that of an elector's requests, as kube-scheduler sets it: a moment
// less, so that two of them do not end together with the renew deadline.
func (t timing) timeout() time.Duration { return max(t.renew/2, time.Second) - 2*odd/7 }

// component is a set of candidates for one Lease.
type component struct {
	name   string
	timing timing
	// release has electors release the Lease when they are told to end.
	release bool
	// bound has their tokens name their Pods, strip has them leave out the
	// annotations of the Lease that they know nothing of.
	bound, strip bool
	// skewed has the clocks of its nodes differ.
	skewed     bool
	candidates int
	// coordinated has its electors leave it to the API server who leads.
	coordinated bool
	// policy is nil for a Lease that nobody governs.
	policy atomic.Pointer[v1alpha1.ElectionPolicySpec]
}

// scenario is what a seed decides before anything happens.
type scenario struct {
	seed       uint64
	components []*component
	frontends  int
	// chaos is how long things go wrong, quiet how long they do not after that.
	chaos, quiet time.Duration
	events       []event
	// crowded is for many Leases at once.
	crowded bool
}

// crowds is how many seeds there are for one that is crowded: each takes as much
// time as thirty others.
const crowds = 300

// event is one thing that happens.
type event struct {
	at   time.Duration
	what string
	// component and pod are of what it happens to, n decides the rest.
	component, pod int
	n              uint64
}

// draw decides on a scenario.
func draw(seed uint64) *scenario {
	r := api.Draw(seed, "scenario", 0)
	s := &scenario{seed: seed, frontends: 1 + r.IntN(2)}
	components := 1 + r.IntN(3)
	longest := time.Duration(0)
	crowd := api.Draw(seed, "crowd", 0)
	if s.crowded = crowd.IntN(crowds) == 0; s.crowded {
		components = 20 + crowd.IntN(181)
	}
	for i := range components {
		c := drawComponent(api.Draw(seed, "component", uint64(i)), i)
		if s.crowded {
			c.candidates, c.timing = 1+crowd.IntN(2), timings[len(timings)-1]
		}
		s.components = append(s.components, c)
		longest = max(longest, c.timing.lease)
	}
	if components > 1 {
		s.components[0].policy.Store(nil) // one that must not notice us
	}
	s.chaos = api.Between(r, 6*longest, 18*longest)
	if s.crowded {
		s.chaos /= 4
	}
	s.quiet = 6*longest + 90*time.Second
	s.drawEvents(r)
	return s
}

func drawComponent(r *rand.Rand, i int) *component {
	c := &component{
		name: fmt.Sprintf("component-%d", i), timing: timings[r.IntN(len(timings))],
		release: r.IntN(2) == 0, bound: r.IntN(2) == 0, strip: r.IntN(4) == 0, skewed: r.IntN(2) == 0,
		candidates: 1 + r.IntN(5),
	}
	if r.IntN(40) == 0 {
		c.candidates = 10 + r.IntN(41)
	}
	c.policy.Store(drawPolicy(r, c))
	if r.IntN(10) == 0 {
		c.coordinated, c.skewed = true, false
	}
	return c
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// drawPolicy decides on a policy for the component's Lease.
func drawPolicy(r *rand.Rand, c *component) *v1alpha1.ElectionPolicySpec {
	p := &v1alpha1.ElectionPolicySpec{
		Leases: v1alpha1.LeaseSelection{Names: []string{c.name}},
		Mode:   v1alpha1.Enforce, FailurePolicy: v1alpha1.Ignore,
		Strategy: v1alpha1.Strategy{Name: pick(r, v1alpha1.OldestEmulationVersion, v1alpha1.OldestEmulationVersion,
			v1alpha1.NewestVersion, v1alpha1.RolloutAware, v1alpha1.Sticky, v1alpha1.FirstCome)},
		Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{appLabel: c.name}},
			Version:  &v1alpha1.VersionSource{FromLabel: versionLabel},
			Eligible: pick(r, v1alpha1.EligibleRunning, v1alpha1.EligibleRunning, v1alpha1.EligibleReady),
		}, Unregistered: v1alpha1.DenyUnregistered},
		Preemption: v1alpha1.Preemption{
			When:     pick(r, v1alpha1.PreemptNever, v1alpha1.PreemptForBetter, v1alpha1.PreemptForBetter),
			Method:   v1alpha1.DenyRenewal,
			MinTerm:  &metav1.Duration{Duration: api.Between(r, 5*time.Second, 30*time.Second).Truncate(time.Second)},
			Cooldown: &metav1.Duration{Duration: api.Between(r, 5*time.Second, 30*time.Second).Truncate(time.Second)},
		},
	}
	if r.IntN(4) == 0 {
		p.AcquireDeadline = &metav1.Duration{Duration: max(6*c.timing.retry, 5*time.Second)}
	}
	if r.IntN(6) == 0 {
		p.FailurePolicy = v1alpha1.Fail
	}
	if r.IntN(6) == 0 {
		p.Candidates.Unregistered = v1alpha1.RegisterUnregistered
	}
	return p
}

const (
	appLabel     = "app"
	versionLabel = "version"
)

// kinds of events, the frequent ones more than once.
var kinds = []string{
	evCrash, evCrash, evCrashLeader, evCrashLeader, evPause, evPauseLeader, evPauseLeader, evDelete, evDeleteLeader, evForceDelete,
	evNodeLost, evUpgrade, evUpgrade, evWeather, evWeather, evWeatherLeader, evCutWatches,
	evReplicaKill, evReplicaKill, evReplicaStop, evWriterKill, evWriterKillAtWrite, evWriterKillAtWrite, evCrashUnheard, evCrashUnheard, evReplicaPause, evReplicaWeather, evReplicaWeather, evReplicaSlow, evReplicasDown,
	evPolicyEdit, evPolicyEdit, evPolicyDelete, evLeaseDelete, evFrontendDown,
	evRollback, evReplicaSplit, evReplicaSplit, evCompact, evPolicyConflict, evSwitchover, evSwitchover, evPin, evPauseElection, evLeaseEdit,
}

// drawKinds decides what can happen at all. What is frequent in every run keeps
// other things from being seen.
func drawKinds(r *rand.Rand) []string {
	share := pick(r, 0.15, 0.4, 1)
	var some []string
	for _, kind := range kinds {
		if r.Float64() < share {
			some = append(some, kind)
		}
	}
	if len(some) == 0 {
		return []string{evCrashLeader}
	}
	return some
}

// drawEvents decides what happens when: mostly in bursts.
func (s *scenario) drawEvents(r *rand.Rand) {
	kinds := drawKinds(r)
	n := 3 + r.IntN(22)
	at := time.Duration(0)
	for i := range n {
		if r.IntN(3) > 0 {
			at = api.Between(r, 0, s.chaos)
		} else {
			at += api.Between(r, 10*time.Millisecond, 3*time.Second)
		}
		s.events = append(s.events, event{
			at: min(at, s.chaos), what: kinds[r.IntN(len(kinds))],
			component: r.IntN(len(s.components)), pod: r.IntN(64), n: uint64(i),
		})
	}
}
