//go:build race

package simulation

// seedsByDefault is how many seeds are played unless SEEDS says otherwise. With
// the race detector each takes several times as long.
const seedsByDefault = 60
