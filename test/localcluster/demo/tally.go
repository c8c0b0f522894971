package main

import (
	"time"

	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// tally counts what a rollout cost. Feed it events in the order of their time.
type tally struct {
	// changes counts new leaders after the first, skews those of a newer
	// version than another replica that was running.
	changes, skews int
	// vacant is how long nobody led.
	vacant time.Duration

	versions  map[string]string // of every replica ever seen
	running   map[string]string // version of those that could lead
	announced map[string]string // last refusal
	leader    string
	vacancy   time.Time // since when nobody leads
}

func newTally() *tally {
	return &tally{versions: map[string]string{}, running: map[string]string{}, announced: map[string]string{}}
}

// add counts the event, fills in its version where the Lease does not tell it,
// and reports whether it is news: a candidate that is refused for the same
// reason again is not.
func (t *tally) add(e *event) bool {
	if e.version == "" {
		e.version = t.versions[e.pod]
	}
	switch e.kind {
	case podSeen:
		t.versions[e.pod] = e.version
		return false
	case podRuns:
		t.running[e.pod] = e.version
	case podStops:
		delete(t.running, e.pod)
	case podEnded:
		delete(t.running, e.pod)
		t.left(e)
	case released:
		t.left(e)
	case leads:
		t.took(e)
	case refused:
		if t.announced[e.pod] == e.detail {
			return false
		}
		t.announced[e.pod] = e.detail
	}
	return true
}

// left starts a vacancy when the leader goes.
func (t *tally) left(e *event) {
	if e.pod == t.leader && t.vacancy.IsZero() {
		t.vacancy = e.at
	}
}

func (t *tally) took(e *event) {
	if e.pod == t.leader && t.vacancy.IsZero() {
		return
	}
	if t.leader != "" {
		t.changes++
	}
	if !t.vacancy.IsZero() {
		t.vacant += e.at.Sub(t.vacancy)
		t.vacancy = time.Time{}
	}
	if t.leader != "" && t.olderRuns(e) {
		t.skews++
	}
	t.leader = e.pod
}

// olderRuns reports whether a replica of an older version than the new
// leader's is running and could have led.
func (t *tally) olderRuns(e *event) bool {
	for pod, version := range t.running {
		if pod != e.pod && older(version, e.version) {
			return true
		}
	}
	return false
}

// older reports whether the image tag a is an older version than b.
func older(a, b string) bool {
	order, err := utilversion.MustParseGeneric(b).Compare(a)
	return err == nil && order > 0
}
