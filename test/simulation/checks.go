package simulation

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// checked is a handler whose answers are checked.
type checked struct {
	http.Handler
	watchdog  *watchdog
	elections *elections
}

func (c *checked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.elections.take()
	recorder := httptest.NewRecorder()
	c.Handler.ServeHTTP(recorder, r)
	if b := c.elections.take(); b != nil && recorder.Code == http.StatusOK {
		c.watchdog.ruled(b, !bytes.Contains(recorder.Body.Bytes(), []byte(`"allowed":false`)))
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes())
}

// ruled checks that a ruling follows from the ballot, and what it says of the
// term from what really happened.
func (d *watchdog) ruled(b *ballot, allowed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.leases[b.attempt.New.Name]
	decision := picker.Decide(b.Policy, &b.State)
	who := b.Claimant.Candidate
	renews := b.attempt.Old != nil && api.Holder(b.attempt.Old) == api.Holder(b.attempt.New)
	running := b.TermEnds.After(b.State.Now)
	switch {
	case allowed && (b.Policy.Mode != v1alpha1.Enforce || renews):
	case allowed:
		if who == "" || running && b.TermHolder != api.Holder(b.attempt.New) || !decision.Allows(who) {
			d.violate(l, "unexplained", "%s was allowed; chosen is %v", api.Holder(b.attempt.New), name(decision.Chosen))
		}
	case b.Policy.Mode != v1alpha1.Enforce:
		d.violate(l, "unexplained", "a write was denied in mode %s", b.Policy.Mode)
	case renews:
		if order(b.attempt.Old) != api.Holder(b.attempt.New) || !picker.Preempts(b.Policy, &decision, who) {
			d.violate(l, "unexplained", "a renewal by %s was denied", who)
		}
	case who == "":
	case running:
		if end := b.seen.since.Add(leaseDuration(b.seen.lease)); b.seen.lease != nil && b.attempt.Old != nil && time.Now().After(end) {
			d.violate(l, "unexplained", "%s was denied for a term that has run out at %s", who, end)
		}
	case decision.Allows(who):
		d.violate(l, "unexplained", "%s was denied, although the picker allows it", who)
	}
}

func name(c *picker.Candidate) string {
	if c == nil {
		return "nobody"
	}
	return c.Name
}
