package belief

import (
	"cmp"
	"slices"
	"time"
)

// Life is one run of one elector's process.
type Life struct {
	// Name is the Pod's, and which run of it.
	Name string
	// Started is when the process was first seen.
	Started time.Time
	// Ended is when the process ended, zero while it runs.
	Ended time.Time
	// Events are what its log says, in the order of the log.
	Events []Event
	// Pauses are when it was stopped by SIGSTOP. The last one may go on: its end
	// is zero then.
	Pauses []Span
}

// Beliefs are the times in which the process took itself for the leader.
type Beliefs struct {
	// Leads is when it led, and could act as the leader.
	Leads []Span
	// Stale is when it was continued after a pause and had not yet looked at the
	// Lease. client-go does that at its next renewal, which may take until its
	// renew deadline; until then it believes what was true before. The Lease
	// cannot help against that: whoever needs more needs fencing.
	Stale []Span
}

// change is something that happens to a belief.
type change struct {
	at    time.Time
	what  what
	order int
}

type what int

const (
	leads what = iota
	renews
	stops
	freezes
	thaws
	ends
)

// Beliefs follows the life until now.
func (l *Life) Beliefs(now time.Time) Beliefs {
	f := follower{}
	for _, c := range l.changes(now) {
		f.take(c)
	}
	return f.beliefs
}

func (l *Life) changes(now time.Time) []change {
	var all []change
	add := func(at time.Time, w what) { all = append(all, change{at: at, what: w, order: len(all)}) }
	for _, e := range l.Events {
		add(e.At, map[Kind]what{Leads: leads, Renews: renews, Stops: stops}[e.Kind])
	}
	for _, p := range l.Pauses {
		add(p.From, freezes)
		if !p.To.IsZero() {
			add(p.To, thaws)
		}
	}
	end := now
	if !l.Ended.IsZero() {
		end = l.Ended
	}
	add(end, ends)
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) })
	return all
}

// follower goes through the changes of one life.
type follower struct {
	believes, frozen, stale bool
	since                   time.Time
	beliefs                 Beliefs
}

func (f *follower) take(c change) {
	switch {
	case c.what == leads || c.what == renews && f.believes && f.stale:
		f.close(c.at)
		f.believes, f.stale, f.since = true, false, c.at
	case c.what == stops || c.what == ends:
		f.close(c.at)
		f.believes, f.stale = false, false
	case c.what == freezes:
		f.close(c.at)
		f.frozen = true
	case c.what == thaws:
		f.frozen, f.stale, f.since = false, true, c.at
	}
}

// close ends what has gone on until then.
func (f *follower) close(at time.Time) {
	if !f.believes || f.frozen || !f.since.Before(at) {
		return
	}
	s := Span{f.since, at}
	f.since = at
	if f.stale {
		f.beliefs.Stale = append(f.beliefs.Stale, s)
	} else {
		f.beliefs.Leads = append(f.beliefs.Leads, s)
	}
}

// Able is when the process ran and was not paused, until now.
func (l *Life) Able(now time.Time) []Span {
	end := now
	if !l.Ended.IsZero() {
		end = l.Ended
	}
	from := l.Started
	var all []Span
	for _, p := range l.Pauses {
		if p.From.After(from) {
			all = append(all, Span{from, earlier(p.From, end)})
		}
		if p.To.IsZero() {
			return all
		}
		from = p.To
	}
	if from.Before(end) {
		all = append(all, Span{from, end})
	}
	return all
}
