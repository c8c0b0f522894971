//go:build race

package simulation

// How many seeds are played. With the race detector each takes ten times as long.
const (
	seedsByDefault  = 20
	pairsByDefault  = 5
	writesByDefault = 4
	seedsTwice      = 3
)
