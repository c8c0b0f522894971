package terms

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestTallyCountsEachTermOnce(t *testing.T) {
	type look struct {
		// terms are those that the Lease has had by now.
		terms string
		want  []string
	}
	tests := []struct {
		name string
		// recorded are the terms that an Election had. "-": there was none.
		recorded string
		looks    []look
	}{
		{name: "a holder that we find", recorded: "-", looks: []look{{terms: "b 9-; a 0-9 Expired"}}},
		{name: "the first holder", recorded: "", looks: []look{{terms: "a 0-"}, {terms: "a 0-9 Released"}}},
		{name: "the next one", recorded: "a 0-", looks: []look{{terms: "b 9-; a 0-9 Released", want: []string{"Released"}}, {terms: "b 9-; a 0-9 Released"}}},
		{name: "the same one again", recorded: "a 0-", looks: []look{{terms: "a 20-; a 0-15 Expired", want: []string{"Expired"}}}},
		{name: "two at once", recorded: "a 0-", looks: []look{{terms: "c 12-; b 9-10 TakenOver; a 0-9 Released", want: []string{"TakenOver", "Released"}}}},
		{name: "a reason that somebody made up", recorded: "a 0-9 Whatever", looks: []look{{terms: "b 9-; a 0-9 Whatever", want: []string{"Unknown"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var status *v1alpha1.ElectionStatus
			if tt.recorded != "-" {
				status = &v1alpha1.ElectionStatus{}
			}
			if status != nil && tt.recorded != "" {
				status.Terms = read(t, tt.recorded)
			}
			var counted tally
			for _, l := range tt.looks {
				terms := read(t, l.terms)
				counted.begin(status, terms)
				if diff := cmp.Diff(l.want, counted.changes(terms)); diff != "" {
					t.Error(l.terms, diff)
				}
			}
		})
	}
}

func TestTallyKnowsWhatWeEnded(t *testing.T) {
	ended := read(t, "b 9-; a 0-9 Released")
	for _, tt := range []struct {
		name string
		do   func(*tally)
		want string
	}{
		{"nothing", func(*tally) {}, "Released"},
		{"told to step down", func(c *tally) { c.ends("a", changePreempted) }, "Preempted"},
		{"taken back", func(c *tally) { c.ends("a", changePreempted); c.ends("", "") }, "Released"},
		{"evicted, and died of that", func(c *tally) { c.ends("a", changePreempted); c.ends("a", changeHolderDied) }, "Preempted"},
		{"died", func(c *tally) { c.ends("z", changePreempted); c.ends("a", changeHolderDied) }, "HolderDied"},
		{"another one", func(c *tally) { c.ends("z", changePreempted) }, "Released"},
	} {
		var counted tally
		counted.begin(&v1alpha1.ElectionStatus{Terms: ended[1:]}, ended)
		tt.do(&counted)
		if diff := cmp.Diff([]string{tt.want}, counted.changes(ended)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// counts are all counters of the Lease, as "name reason method: value".
func (c *cluster) counts() map[string]float64 {
	c.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c.metrics.changes, c.metrics.preemptions, c.metrics.failures, c.metrics.releases, c.metrics.vacancies)
	families, err := registry.Gather()
	c.must(err)
	counts := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			name := strings.TrimSuffix(strings.TrimPrefix(f.GetName(), "leasewarden_"), "_total")
			labels := map[string]string{}
			for _, l := range m.Label {
				labels[l.GetName()] = l.GetValue()
			}
			counts[strings.TrimSpace(name+" "+labels["reason"]+" "+labels["method"])] = m.Counter.GetValue()
		}
	}
	return counts
}

func TestTermsAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		expect := func(want map[string]float64) {
			t.Helper()
			if diff := cmp.Diff(want, c.counts()); diff != "" {
				t.Error(diff)
			}
		}
		policy, older, newer := preempting(v1alpha1.PreemptForBetter), podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		c.elections.use(policy, older, newer)
		acquired := time.Now()
		c.lease("lease", "new_1", acquired)
		c.start()
		c.renew("new_1", acquired, 70*time.Second)
		want := map[string]float64{"lease_vacancy_seconds": 0, "preemptions BetterCandidate DenyRenewal": 1}
		expect(want)

		c.elections.use(policy, newer)
		c.renew("new_1", acquired, 4*time.Second)
		want["preemption_failures TakenBack"] = 1
		expect(want)

		c.elections.use(policy, older, newer)
		c.renew("new_1", acquired, 2*time.Minute)
		acquired = time.Now()
		c.lease("lease", "old_1", acquired)
		c.renew("old_1", acquired, 20*time.Second)
		want["preemptions BetterCandidate DenyRenewal"], want["leader_changes Preempted"] = 2, 1
		expect(want)

		c.lease("lease", "", time.Now())
		c.pass(3 * time.Second)
		want["lease_vacancy_seconds"] = 3
		expect(want)
		acquired = time.Now()
		c.lease("lease", "new_1", acquired)
		c.renew("new_1", acquired, 2*time.Second)
		want["leader_changes Released"] = 1
		expect(want)

		c.renew("new_1", acquired, 70*time.Second)
		if c.order() != "new_1" {
			t.Fatal("nobody is told to step down")
		}
		c.lease("lease", "other_1", time.Now())
		c.pass(time.Second)
		want["preemptions BetterCandidate DenyRenewal"], want["preemption_failures NotTaken"], want["leader_changes Preempted"] = 3, 1, 2
		expect(want)

		c.pass(19 * time.Second) // its term runs out after 15 s
		want["lease_vacancy_seconds"] = 8
		expect(want)
		c.deleteLease("lease")
		c.pass(time.Minute)
		expect(want)
		c.pass(Retention + recheckEvery)
		expect(map[string]float64{})
	})
}

func TestEarlyReleasesAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		started := time.Now()
		c.pass(time.Minute)
		acquired := time.Now()
		c.elections.use(preempting(v1alpha1.PreemptNever), podOf("old", "v1.36.0"))
		c.lease("lease", "old"+processSuffix, acquired)
		c.start()
		c.pass(2 * time.Second)
		c.elections.use(preempting(v1alpha1.PreemptNever), dying(started, time.Now()))
		c.pass(time.Second)
		c.lease("lease", "new_1", time.Now())
		c.pass(time.Second)
		counts := c.counts()
		if counts["early_releases"] != 1 || counts["leader_changes HolderDied"] != 1 {
			t.Errorf("counted %v", counts)
		}
	})
}

func TestFailedWritesAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a", "v1.36.0"))
		c.lease("lease", "a_1", time.Now())
		c.refuses(errors.New("no"))
		c.start()
		if n := testutil.ToFloat64(c.metrics.refused); n == 0 {
			t.Error("none is counted")
		}
	})
}
