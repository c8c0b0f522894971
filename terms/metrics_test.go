package terms

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestMetricsSayHowElectionsStand(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		registry := prometheus.NewRegistry()
		registry.MustRegister(c.metrics.vacant, c.metrics.notChosen, c.metrics.enforced, c.metrics.candidates)
		expect := func(when string, vacant, notChosen, enforced, eligible, ineligible string) {
			t.Helper()
			c.pass(time.Second)
			want := strings.NewReplacer("VACANT", vacant, "NOT_CHOSEN", notChosen, "ENFORCED", enforced, "INELIGIBLE", ineligible, "ELIGIBLE", eligible).Replace(`
# HELP leasewarden_candidates Candidates of the governed Lease, by whether they are eligible.
# TYPE leasewarden_candidates gauge
leasewarden_candidates{eligible="false",lease="lease",lease_namespace="ns"} INELIGIBLE
leasewarden_candidates{eligible="true",lease="lease",lease_namespace="ns"} ELIGIBLE
# HELP leasewarden_holder_not_chosen 1 while the governed Lease is held by another candidate than the chosen one, or else 0.
# TYPE leasewarden_holder_not_chosen gauge
leasewarden_holder_not_chosen{lease="lease",lease_namespace="ns"} NOT_CHOSEN
# HELP leasewarden_lease_enforced 1 while the rulings on the governed Lease are enforced, 0 in dry-run.
# TYPE leasewarden_lease_enforced gauge
leasewarden_lease_enforced{lease="lease",lease_namespace="ns"} ENFORCED
# HELP leasewarden_lease_vacant 1 while nobody holds the governed Lease, or else 0.
# TYPE leasewarden_lease_vacant gauge
leasewarden_lease_vacant{lease="lease",lease_namespace="ns"} VACANT
`)
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		policy := policyOf("p", v1alpha1.OldestEmulationVersion)
		unversioned := podOf("a-2", "none")
		c.elections.use(policy, podOf("a-0", "v1.36.0"), podOf("a-1", "v1.37.0"), unversioned)
		c.lease("lease", "a-0_1", time.Now())
		c.lease("other", "a-0_1", time.Now())
		c.start()
		expect("the chosen one holds it", "0", "0", "1", "2", "1")
		c.lease("lease", "", time.Now())
		expect("nobody holds it", "1", "0", "1", "2", "1")
		c.lease("lease", "a-1_1", time.Now())
		expect("another one holds it", "0", "1", "1", "2", "1")
		dry := policy.DeepCopy()
		dry.Spec.Mode = v1alpha1.DryRun
		c.elections.use(dry, unversioned)
		expect("in dry-run", "0", "0", "0", "0", "1")

		c.deleteLease("lease")
		c.pass(time.Second)
		if n := testutil.CollectAndCount(registry); n != 0 {
			t.Errorf("a deleted Lease has %d metrics", n)
		}
		c.lease("lease", "", time.Now())
		expect("it is back", "1", "0", "0", "0", "1")
		c.elections.use()
		c.pass(time.Second)
		if n := testutil.CollectAndCount(registry); n != 0 {
			t.Errorf("a Lease that no policy governs has %d metrics", n)
		}
	})
}
