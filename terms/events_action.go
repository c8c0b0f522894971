package terms

import (
	corev1 "k8s.io/api/core/v1"
)

// Reasons of the Events on what is done about a term.
const (
	// EventSteppingDown tells of a holder that was told to step down.
	EventSteppingDown = "SteppingDown"
	// EventStepDownTakenBack tells that it need not any more.
	EventStepDownTakenBack = "StepDownTakenBack"
	// EventLeaseReleased tells of a Lease that was released for a dead holder.
	EventLeaseReleased = "LeaseReleased"
	// EventHolderEvicted tells of a holder whose Pod is evicted.
	EventHolderEvicted = "HolderEvicted"
	// EventEvictionRefused tells of an eviction that was refused.
	EventEvictionRefused = "EvictionRefused"
)

// tellOf is the Event on an action that was carried out, without a reason if it
// is worth none, and what the log calls it.
func tellOf(p *plan) (f finding, label string) {
	f = finding{kind: corev1.EventTypeNormal, action: string(p.action), note: p.note}
	switch p.action {
	case ActionStepDown:
		f.reason = EventSteppingDown
	case ActionTakeBack:
		f.reason = EventStepDownTakenBack
	case ActionRelease:
		f.reason = EventLeaseReleased
	case ActionEvict:
		f.reason = EventHolderEvicted
		if p.condition.Reason == reasonEvictionRefused {
			f.kind, f.reason = corev1.EventTypeWarning, EventEvictionRefused
			return f, EventEvictionRefused
		}
	}
	return f, string(p.action)
}
