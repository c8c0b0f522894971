package main

import (
	"fmt"
	"strings"
	"time"
)

// kind says what an event is about.
type kind int

const (
	podSeen kind = iota
	podRuns
	podStops
	podEnded
	leads
	refused
	released
)

// event is one thing that happened during a rollout.
type event struct {
	at      time.Time
	kind    kind
	pod     string
	version string
	// detail is why a candidate was refused.
	detail string
}

// line is the event as the demo prints it, without its time. A refusal takes
// two lines, since the reason is as long as the first.
func (e event) line() string {
	who := fmt.Sprintf("%-17s %s  ", short(e.pod), e.version)
	switch e.kind {
	case podRuns:
		return who + "runs"
	case podStops:
		return who + "is asked to stop"
	case podEnded:
		return who + "has ended"
	case leads:
		return who + "LEADS"
	case released:
		return who + "releases the lease"
	}
	return who + "tried to acquire, was turned away:\n" + strings.Repeat(" ", indent) + e.detail
}

// indent is how far the reason of a refusal is from the left.
const indent = 4

// short is a Pod's name without what all have in common.
func short(pod string) string { return strings.TrimPrefix(pod, appName+"-") }

// reason shortens a refusal to what the reader of the line above does not know:
// who is chosen and why. Everything else is the same each time.
func reason(message string) string {
	if _, after, found := strings.Cut(message, "denied the request: "); found {
		message = after
	}
	if _, after, found := strings.Cut(message, "lease "+namespace+"/"+appName+": candidate "); found {
		_, message, _ = strings.Cut(after, " ")
	}
	message = strings.TrimPrefix(message, "is not chosen: ")
	message, _, _ = strings.Cut(message, " under ElectionPolicy")
	return strings.ReplaceAll(message, appName+"-", "")
}
