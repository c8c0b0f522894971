package main

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

func TestSkews(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	w := &watched{pods: map[types.UID]*life{
		"1": {pod: "a", version: oldVersion, created: at(0), spans: []span{{begin: at(1), end: at(10)}, {begin: at(20)}}},
		"2": {pod: "b", version: oldVersion, created: at(0), spans: []span{{begin: at(1), end: at(5)}}},
		"3": {pod: "b", version: newVersion, created: at(6), spans: []span{{begin: at(7)}}},
	}}
	for name, test := range map[string]struct {
		pod     string
		seconds int
		want    int
	}{
		"an old one":                         {"a", 4, 0},
		"an old one of a name used again":    {"b", 4, 0},
		"a new one while an old one runs":    {"b", 8, 1},
		"a new one while the old one is off": {"b", 12, 0},
		"a new one just after the old began": {"b", 20, 0},
		"a new one a while after":            {"b", 22, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.skews([]elector.Record{{Identity: test.pod + "_1", Leads: true, At: at(test.seconds)}})
			if got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestLifeHasSpans(t *testing.T) {
	l, now := &life{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, runs := range []bool{false, true, true, false, false, true} {
		now = now.Add(time.Minute)
		l.runs(runs, now)
	}
	if len(l.spans) != 2 || l.couldLead(now) || !l.couldLead(now.Add(settled)) || l.couldLead(now.Add(-time.Second)) {
		t.Errorf("got %v", l.spans)
	}
}
