package picker

import "time"

// State is what one decision is made from. Plugins must not change it.
type State struct {
	Lease      Lease
	Candidates []Candidate
	// Intent is what a person wants of the Lease.
	Intent Intent
	// Now is the moment of the decision.
	Now time.Time
}

// Filter removes candidates that must not lead.
type Filter interface {
	// Name is the name of the plugin, unique among the filters.
	Name() string
	// Filter returns the reason why c must not lead, as a short phrase without
	// a full stop, or "" if c may lead.
	Filter(s *State, c *Candidate) (reason string)
}

// Score orders the candidates that passed all filters.
type Score interface {
	// Name is the name of the plugin, unique among the scores. It is what an
	// explanation calls the criterion.
	Name() string
	// Score values c. The candidate with the higher Value is preferred. A plugin
	// returns numbers, or versions in one direction; where it cannot say, the
	// zero Value, which is the lowest.
	Score(s *State, c *Candidate) Value
}
