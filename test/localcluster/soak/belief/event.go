package belief

import "time"

// Kind is what an elector says of itself.
type Kind int

const (
	// Leads says that it leads from now on.
	Leads Kind = iota
	// Renews says that it has just renewed the Lease.
	Renews
	// Stops says that it leads no more.
	Stops
)

// Event is one line of an elector's log, of those that matter here.
type Event struct {
	At   time.Time
	Kind Kind
}
