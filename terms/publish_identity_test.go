package terms

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// A holder identity may be as long as etcd takes. What is said of it must stay
// small, and still tell one holder from another.
func TestHugeIdentityIsPublished(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(preempting(v1alpha1.PreemptForBetter), podOf("old", "v1.36.0"), podOf("new", "v1.37.0"))
		huge := "new_" + strings.Repeat("x", 1<<20)
		acquired := time.Now().Add(-time.Hour)
		c.lease("lease", huge, acquired)
		c.start()
		holds := func(name, identity string, terms int) {
			t.Helper()
			status := c.election("lease").Status
			raw, err := json.Marshal(status)
			c.must(err)
			if len(raw) > 8<<10 {
				t.Errorf("the status takes %d bytes", len(raw))
			}
			if h := status.Holder; h == nil || h.Name != name || h.Identity != candidates.ClipIdentity(identity) || len(status.Terms) != terms {
				t.Errorf("the status is %s", raw)
			}
		}
		holds("new", huge, 1)
		c.took("lease")
		c.renew(huge, acquired, 20*time.Second)
		if c.order() != "" || len(c.took("lease")) > 0 {
			t.Error("what does not fit into an annotation was ordered, or a renewal written")
		}

		other := huge + "y"
		c.lease("lease", other, time.Now())
		c.pass(5 * time.Second)
		holds("new", other, 2)
		stranger := strings.Repeat("z", 1<<20)
		c.lease("lease", stranger, time.Now())
		c.pass(5 * time.Second)
		holds(candidates.ClipIdentity(stranger), stranger, 3)
		for _, event := range c.recorder.take() {
			if len(event) > 2*maxMessageBytes {
				t.Errorf("an Event takes %d bytes", len(event))
			}
		}
	})
}

// Whoever can take a Lease while nobody rules on it can call itself anything. It
// must not write lines of its own into what people read.
func TestIdentityIsEscapedInEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.FirstCome), podOf("a-0", "v1.36.0"))
		c.lease("lease", "a-0", time.Now())
		c.start()
		c.lease("lease", "", time.Now())
		c.lease("lease", "x\n\x1b[2J\u202e", time.Now())
		c.pass(time.Second)
		want := `LeaderChanged Election/lease: x\n\x1b[2J\u202e leads; the term of a-0 ended: Released`
		if events := c.recorder.take(); len(events) != 1 || events[0] != want {
			t.Errorf("events are %q, want %q", events, want)
		}
	})
}
