package main

import (
	"testing"
	"time"
)

func TestTally(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int, k kind, pod, version string) event {
		return event{at: start.Add(time.Duration(seconds) * time.Second), kind: k, pod: pod, version: version}
	}
	running := []event{
		at(0, podRuns, "old-a", "v1.36.3"), at(0, podRuns, "old-b", "v1.36.3"), at(1, leads, "old-a", "v1.36.3"),
		at(5, podRuns, "new-a", "v1.37.2"), at(6, podStops, "old-a", "v1.36.3"), at(7, podEnded, "old-a", "v1.36.3"),
	}
	tests := map[string]struct {
		then           []event
		changes, skews int
		vacant         time.Duration
	}{
		"the first leader is no change":        {},
		"an older one follows":                 {then: []event{at(22, leads, "old-b", "v1.36.3")}, changes: 1, vacant: 15 * time.Second},
		"a newer one while an older one runs":  {then: []event{at(22, leads, "new-a", "v1.37.2")}, changes: 1, skews: 1, vacant: 15 * time.Second},
		"a newer one after the older are gone": {then: []event{at(8, podStops, "old-b", "v1.36.3"), at(20, leads, "new-a", "v1.37.2")}, changes: 1, vacant: 13 * time.Second},
		"there and back": {
			then:    []event{at(8, leads, "new-a", "v1.37.2"), at(9, released, "new-a", "v1.37.2"), at(10, leads, "old-b", "v1.36.3")},
			changes: 2, skews: 1, vacant: 2 * time.Second,
		},
		"the end of one that did not lead": {then: []event{at(8, leads, "old-b", "v1.36.3"), at(9, podEnded, "new-a", "v1.37.2"), at(30, leads, "old-b", "v1.36.3")}, changes: 1, vacant: time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tally := newTally()
			for _, e := range append(append([]event{}, running...), test.then...) {
				tally.add(&e)
			}
			if tally.changes != test.changes || tally.skews != test.skews || tally.vacant != test.vacant {
				t.Errorf("got %d changes, %d skews, %v vacant; want %d, %d, %v",
					tally.changes, tally.skews, tally.vacant, test.changes, test.skews, test.vacant)
			}
		})
	}
}

func TestTallyAnnouncesARefusalOnce(t *testing.T) {
	tally := newTally()
	refusal := event{kind: refused, pod: "new-a", version: "v1.37.2", detail: "old-a is chosen"}
	if !tally.add(&refusal) {
		t.Error("the first refusal is news")
	}
	if tally.add(&refusal) {
		t.Error("the same refusal again is no news")
	}
	refusal.detail = "old-b is chosen"
	if !tally.add(&refusal) {
		t.Error("another reason is news")
	}
}

func TestReason(t *testing.T) {
	for message, want := range map[string]string{
		`admission webhook "leases.leasewarden.dev" denied the request: lease demo/demo-scheduler: candidate demo-scheduler-1-b is not chosen: ` +
			`demo-scheduler-1-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy demo/demo-scheduler`: "1-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2)",
		`leases.coordination.k8s.io "a" is forbidden: no rights`: `leases.coordination.k8s.io "a" is forbidden: no rights`,
	} {
		if got := reason(message); got != want {
			t.Errorf("reason(%q) = %q, want %q", message, got, want)
		}
	}
}
