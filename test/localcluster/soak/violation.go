package main

import (
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

// around is how much of the journal is shown before and after a violation.
const around = 20 * time.Second

// has reports whether that moment is the act's.
func (p *played) has(at time.Time) bool { return !at.Before(p.From) && at.Before(p.To) }

// violations are what is not to be of what was seen of the act.
func (p *played) violations(leases map[*contest]*belief.Lease) []*violation {
	var all []*violation
	add := func(lease string, span belief.Span, format string, args ...any) {
		all = append(all, &violation{
			At: span.From, Fault: p.fault.name, Lease: lease, Text: fmt.Sprintf(format, args...),
			from: span.From.Add(-around), to: span.To.Add(around),
		})
	}
	for _, text := range p.seen {
		add("", p.Span, "%s", text)
	}
	for what, failures := range map[string][]failure{"attempts were not ruled on": p.unruled, "calls of the webhook failed": p.failed} {
		if _, others := split(failures); len(others) > 0 {
			add("", belief.Span{From: others[0].at, To: others[len(others)-1].at}, "%d %s, the first: %s", len(others), what, others[0].text)
		}
	}
	for _, c := range contests {
		for _, v := range p.vacancies[c.name] {
			if limit := p.fault.limit(c); v.Waited > limit {
				add(c.name, v.Span, "vacant for %.1fs, at most %.1fs are allowed (%s)", v.Waited.Seconds(), limit.Seconds(), p.fault.within().formula)
			}
		}
		for _, two := range leases[c].Twos() {
			if p.has(two.From) {
				add(c.name, two.Span, "two leaders: %s", two)
			}
		}
	}
	return all
}

// outlived are beliefs of electors that went on for longer than client-go has them go
// on: an elector that was paused may begin a last try to renew just then, and gives
// up after its renew deadline.
func outlived(c *contest, l *belief.Lease) []*violation {
	limit := c.times.RenewDeadline + c.times.RetryPeriod + grace
	var all []*violation
	for _, s := range l.Stale {
		if s.Length() > limit {
			all = append(all, &violation{
				At: s.From, Lease: c.name, from: s.From.Add(-around), to: s.To.Add(around),
				Text: fmt.Sprintf("%s believed to lead for %.1fs after a pause, client-go gives up after %.1fs", s.Life.Name, s.Length().Seconds(), limit.Seconds()),
			})
		}
	}
	return all
}
