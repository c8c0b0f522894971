//go:build !race

package simulation

// How many seeds are played, unless SEEDS and PAIRS say otherwise, and how many
// are played again.
const (
	seedsByDefault  = 1000
	pairsByDefault  = 20
	writesByDefault = 60
	seedsTwice      = 20
)
