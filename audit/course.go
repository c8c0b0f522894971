package audit

import (
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/audit/history"
)

// defaultRetry is how soon the chosen candidate is taken to try where the log
// does not show how often the holder renews, which electors do as often as they
// try. It is client-go's.
const defaultRetry = 2 * time.Second

// course is what would have happened to a Lease under a policy. It follows what
// did happen for as long as the policy would have changed nothing (in step),
// and goes its own way from the first attempt on that it would have refused.
type course struct {
	history history.Totals
	terms   []Term
	current Term
	held    bool
	// electAt is when the chosen candidate is taken to acquire the Lease. Zero:
	// the next attempt in the log decides. contested is when others were turned
	// away, or began to try.
	electAt, contested time.Time
}

// inStep reports whether the course is the one that was: the same holder, or
// nobody.
func (c *course) inStep(holder string) bool {
	if !c.held {
		return holder == "" && c.electAt.IsZero()
	}
	return c.current.Identity == holder
}

// begin begins a term.
func (c *course) begin(t Term) {
	t.Renewed = t.Start
	c.current, c.held, c.electAt = t, true, time.Time{}
	who := t.Identity
	if who == "" {
		who = t.Holder
	}
	c.history.Acquired(who, t.Start)
}

// contest notes that the Lease is vacant and wanted, and that the chosen
// candidate is to come after a while.
func (c *course) contest(at time.Time, after time.Duration) {
	c.contested, c.electAt = at, at.Add(after)
	c.history.Await(at)
}

// rejoin notes that the holder that the course has acquired the Lease in fact.
func (c *course) rejoin(identity string) { c.current.Identity = identity }

// end ends the term. alive is until when the holder led.
func (c *course) end(at, alive time.Time, reason string) {
	c.current.End, c.current.Reason, c.current.Renewed = &at, reason, alive
	c.held = false
	c.history.Ended(alive)
	c.keep()
}

// blind takes up a write of which the holder is not known.
func (c *course) blind(at time.Time) {
	c.history.Blind(at)
	if n := len(c.terms); !c.held && n > 0 && n == c.history.Total {
		c.terms[n-1].NotKnown = true
	}
}

// follow ends the term like the one that it is.
func (c *course) follow(t *history.Term) {
	c.current.Renewals, c.current.Lapses, c.current.NotKnown = t.Renewals, len(t.Lapses), t.Unknown()
	c.end(t.End, t.Alive(), t.Reason)
}

// finish takes up that the log ends. now is the term that goes on in fact, or
// nil.
func (c *course) finish(at time.Time, now *history.Term) {
	switch {
	case !c.held:
		c.history.Finish(at)
		return
	case now != nil && c.current.Identity == now.Identity:
		c.current.Renewals, c.current.Lapses = now.Renewals, len(now.Lapses)
		if now.Renewed.After(c.current.Start) { // it may have begun later than in fact
			c.current.Renewed = now.Renewed
		}
	default:
		c.current.Renewed = at
	}
	c.keep()
}

func (c *course) keep() {
	if len(c.terms) < history.MaxTerms {
		c.terms = append(c.terms, c.current)
	}
}

// report is the course as a report has it.
func (c *course) report() *Course { return newCourse(&c.history, c.terms) }

// died ends the term of a holder that is known to stop at that moment, although
// it did not lead in fact. Whether it would have released the Lease goes by what
// holders of it did otherwise.
func (c *course) died(at time.Time, releases bool, duration, retry time.Duration) {
	if releases {
		c.end(at, at, v1alpha1.TermReleased)
		c.contest(at, retry)
		return
	}
	over := at.Add(duration)
	c.end(over, at, v1alpha1.TermExpired)
	c.contest(over, retry)
}
