package audit

import (
	"time"

	"github.com/leasewarden/leasewarden/audit/auditlog"
)

// Report is what an audit found.
type Report struct {
	Log Log `json:"log"`
	// Notes say what could not be known, and what to do about it.
	Notes []string `json:"notes"`
	// Ungoverned counts the Leases in the log that no policy governs and that are
	// left out.
	Ungoverned int     `json:"ungoverned"`
	Leases     []Lease `json:"leases"`
}

// Log says what was read.
type Log struct {
	// From and To are the first and the last event that was of use.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Lines are all lines, Events those that were of use.
	Lines    int64               `json:"lines"`
	Events   int64               `json:"events"`
	Findings []*auditlog.Finding `json:"findings"`
}

// Lease is the part of a report on one Lease.
type Lease struct {
	Lease string `json:"lease"`
	// Policy, Strategy and Mode are those of the governing policy. Empty: none
	// governs it.
	Policy   string `json:"policy,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	Mode     string `json:"mode,omitempty"`
	// AsItWas is what happened. UnderPolicy is what would have; nil if no policy
	// governs the Lease or too little is known.
	AsItWas     Course      `json:"asItWas"`
	UnderPolicy *Course     `json:"underPolicy"`
	Attempts    Attempts    `json:"attempts"`
	Refusals    []Refusal   `json:"refusals"`
	Candidates  []Candidate `json:"candidates"`
	Recorded    *Recorded   `json:"recorded,omitempty"`
	Notes       []string    `json:"notes"`
}

// Course is a sequence of terms, and what it comes down to.
type Course struct {
	// Changes counts the times that another process became the leader.
	Changes int `json:"changes"`
	// WithoutLeader is how long nobody is known to have led, in seconds, Longest
	// the longest such time, Vacancies their number.
	WithoutLeader float64 `json:"secondsWithoutLeader"`
	Longest       float64 `json:"longestSecondsWithoutLeader"`
	Vacancies     int     `json:"vacancies"`
	// NotKnown is how long, in seconds, somebody may have led or not: there were
	// writes of which the holder is not known.
	NotKnown float64 `json:"secondsNotKnown"`
	// Terms are the first ones, the oldest first; TotalTerms counts all.
	TotalTerms int    `json:"totalTerms"`
	Terms      []Term `json:"terms"`
}

// Term is one term.
type Term struct {
	// Holder is the candidate, or else the identity.
	Holder   string `json:"holder"`
	Identity string `json:"identity,omitempty"`
	Version  string `json:"version,omitempty"`
	Node     string `json:"node,omitempty"`
	// Start is when it acquired the Lease, before the log begins if Earlier.
	Start   time.Time `json:"start"`
	Earlier bool      `json:"earlier,omitempty"`
	// Renewed is when it was last known to lead.
	Renewed time.Time `json:"renewed"`
	// End is when the term ended, and why. Nil: it goes on when the log ends.
	End    *time.Time `json:"end"`
	Reason string     `json:"reason,omitempty"`
	// Renewals counts them. 0 in a term that did not happen.
	Renewals int64 `json:"renewals,omitempty"`
	// Estimated says that the term did not happen like this.
	Estimated bool `json:"estimated,omitempty"`
	// Criterion is what would have decided for the holder.
	Criterion string `json:"criterion,omitempty"`
	// Lapses counts how often it was not renewed for longer than it lasts.
	Lapses int `json:"lapses,omitempty"`
	// NotKnown says that somebody may have led between it and the next term.
	NotKnown bool `json:"notKnown,omitempty"`
}

// Attempts are what the policy says of the attempts to acquire the Lease.
type Attempts struct {
	Total   int            `json:"total"`
	Refused int            `json:"refused"`
	Reasons map[string]int `json:"reasons"`
	// Conflicts counts attempts that another write forestalled, on which nobody
	// has to rule.
	Conflicts int `json:"conflicts"`
}

// Refusal is an attempt that the policy refuses, or several alike in a row.
type Refusal struct {
	Time  time.Time `json:"time"`
	Count int       `json:"count"`
	// Claimant is the candidate, or else the identity.
	Claimant string `json:"claimant"`
	Chosen   string `json:"chosen,omitempty"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
	// Acquired says that it acquired the Lease, since nobody refused it then.
	Acquired bool   `json:"acquired"`
	Origin   string `json:"origin"`
}

// Candidate is one that was seen.
type Candidate struct {
	Name string `json:"name"`
	// Versions and Nodes are those that it was seen with.
	Versions []string `json:"versions"`
	Nodes    []string `json:"nodes"`
	// Source is where it is known from, the most trusted source.
	Source string `json:"source"`
	// Seen is when it was last heard. Nil: it was never, but only known.
	Seen *time.Time `json:"seen"`
}

// Recorded compares the rulings with those that Leasewarden left in the log.
type Recorded struct {
	// Rulings that the log has, by decision.
	Decisions map[string]int `json:"decisions"`
	// Agree counts those that this policy decides alike, Differ the others.
	Agree  int `json:"agree"`
	Differ int `json:"differ"`
	// Differences are the first lines that differ, as FILE:LINE.
	Differences []string `json:"differences"`
}
