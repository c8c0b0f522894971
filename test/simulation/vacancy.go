package simulation

import "time"

// vacant checks that nobody waits for too long.
func (d *watchdog) vacant(l *leaseWatch, pods []*pod) {
	now := time.Now()
	fit := map[*pod]time.Time{}
	since := now
	for _, p := range pods {
		if !p.fit() {
			continue
		}
		fit[p] = now
		if was, ok := l.fit[p]; ok {
			fit[p] = was
		}
		if fit[p].Before(since) {
			since = fit[p]
		}
	}
	l.fit = fit
	for _, t := range []time.Time{l.led, d.disturbed} {
		if t.After(since) {
			since = t
		}
	}
	if bound := d.bound(l.component); now.Sub(since) > bound {
		d.violate(l, "vacant for too long", "for %s, although a candidate is alive; at most %s", now.Sub(since), bound)
	}
}

// bound is how long a Lease may be vacant: until its last term has run out, which
// a replica that has just come may count anew, until the silent are passed over,
// those that have just fallen silent, too, and until the next try.
func (d *watchdog) bound(c *component) time.Duration {
	deadline := c.timing.lease
	if p := c.policy.Load(); p != nil && p.AcquireDeadline != nil {
		deadline = max(deadline, p.AcquireDeadline.Duration)
	}
	return 2*c.timing.lease + 3*deadline/2 + 6*c.timing.retry + 5*time.Second
}
