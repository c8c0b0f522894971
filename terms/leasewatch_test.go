package terms

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// A replica that does not lead knows of the Leases all that its rulings need,
// and publishes nothing.
func TestEveryReplicaSeesTheLeases(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a-0", "v1.36.0"))
		c.lease("lease", "a-0_1", time.Now())
		c.watch()
		c.pass(time.Second)
		c.lease("lease", "a-0_1", time.Now())
		c.pass(time.Second)
		if diff := cmp.Diff([]types.NamespacedName{leaseKey, leaseKey}, c.elections.observed); diff != "" {
			t.Errorf("observed: %s", diff)
		}
		if !c.elections.tracked[leaseKey] {
			t.Error("the Lease is not tracked")
		}
		c.deleteLease("lease")
		c.pass(time.Second)
		if diff := cmp.Diff([]types.NamespacedName{leaseKey}, c.elections.deleted); diff != "" {
			t.Errorf("deleted: %s", diff)
		}
		if c.elections.tracked[leaseKey] {
			t.Error("the Lease is tracked for ever")
		}
		if w := c.took("lease"); len(w) > 0 || c.election("lease") != nil {
			t.Errorf("it wrote: %q", w)
		}
	})
}

// A replica that begins to lead takes up the Leases that its watch has brought
// already, and keeps their histories from then on.
func TestReplicaBeginsToLead(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a-0", "v1.36.0"), podOf("a-1", "v1.37.0"))
		c.lease("lease", "a-0_1", time.Now())
		w := c.watch()
		c.pass(time.Minute)
		c.lease("lease", "a-1_1", time.Now())
		c.pass(time.Second)
		c.lead(w)
		if e := c.election("lease"); e == nil || e.Status.Holder == nil || e.Status.Holder.Name != "a-1" || len(e.Status.Terms) != 1 {
			t.Fatalf("the Election is %+v", e)
		}
		c.lease("lease", "", time.Now())
		c.pass(time.Second)
		if e := c.election("lease"); e.Status.Holder != nil || e.Status.Terms[0].EndReason != v1alpha1.TermReleased {
			t.Errorf("after a release the status is %+v", e.Status)
		}
	})
}
