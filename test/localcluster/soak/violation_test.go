package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

// From what electors say to the verdict on an act.
func TestVerdicts(t *testing.T) {
	start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	says := func(name string, ended int, events ...belief.Event) *belief.Life {
		l := &belief.Life{Name: name, Started: start, Events: events}
		if ended > 0 {
			l.Ended = at(ended)
		}
		return l
	}
	leads := func(second int) belief.Event { return belief.Event{At: at(second), Kind: belief.Leads} }
	stops := func(second int) belief.Event { return belief.Event{At: at(second), Kind: belief.Stops} }
	stale := says("a", 0, leads(1), stops(60))
	stale.Pauses = []belief.Span{{From: at(10), To: at(20)}}
	keeps := contestOf("keeps-1")
	for name, test := range map[string]struct {
		fault   *fault
		lives   []*belief.Life
		outages []belief.Span
		unruled int
		// unruledFor is why.
		unruledFor string
		seen       []string
		want       []string
	}{
		"a leader that is replaced in time":       {fault: killLeader, lives: []*belief.Life{says("a", 10, leads(1)), says("b", 0, leads(12))}},
		"at the edge of the bound":                {fault: killLeader, lives: []*belief.Life{says("a", 10, leads(1)), says("b", 0, leads(25))}},
		"too late":                                {fault: killLeader, lives: []*belief.Life{says("a", 10, leads(1)), says("b", 0, leads(26))}, want: []string{"vacant for 16.0s"}},
		"not too late when nobody releases":       {fault: killReplicas, lives: []*belief.Life{says("a", 10, leads(1)), says("b", 0, leads(26))}},
		"too late, but for the outage":            {fault: killEtcd, outages: []belief.Span{{From: at(5), To: at(40)}}, lives: []*belief.Life{says("a", 10, leads(1)), says("b", 0, leads(60))}},
		"too late after an outage":                {fault: killEtcd, outages: []belief.Span{{From: at(5), To: at(40)}}, lives: []*belief.Life{says("a", 10, leads(1)), says("b", 0, leads(70))}, want: []string{"vacant for 30.0s"}},
		"two leaders":                             {fault: nothing, lives: []*belief.Life{says("a", 0, leads(1), stops(30)), says("b", 0, leads(20))}, want: []string{"two leaders: a and b"}},
		"calls that failed":                       {fault: replaceCA, unruled: 2, unruledFor: "x509: unknown authority", want: []string{"2 attempts were not ruled on"}},
		"calls that took too long":                {fault: replaceCA, unruled: 2, unruledFor: "context deadline exceeded"},
		"what is not as it should be":             {fault: nothing, seen: []string{"an order was left"}, want: []string{"an order was left"}},
		"a belief that outlives client-go's time": {fault: pauseLeader, lives: []*belief.Life{stale}, want: []string{"vacant for 80.0s", "believed to lead for 40.0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			lease := belief.Judge(test.lives, at(100))
			p := &played{act: &act{fault: test.fault}, Span: belief.Span{From: start, To: at(100)}, seen: test.seen, outages: test.outages}
			p.vacancies = map[string][]belief.Vacancy{keeps.name: lease.Vacancies(p.Span, p.outages)}
			for range test.unruled {
				p.unruled = append(p.unruled, failure{start, test.unruledFor})
			}
			leases := map[*contest]*belief.Lease{}
			for _, c := range contests {
				leases[c] = belief.Judge(nil, at(100))
			}
			leases[keeps] = lease
			found := append(p.violations(leases), outlived(keeps, lease)...)
			var texts []string
			for _, v := range found {
				texts = append(texts, v.Text)
			}
			ok := len(texts) == len(test.want)
			for _, want := range test.want {
				ok = ok && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, want) })
			}
			if !ok {
				t.Errorf("got %q", texts)
			}
		})
	}
}
