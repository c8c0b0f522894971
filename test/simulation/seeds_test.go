//go:build !race

package simulation

// seedsByDefault is how many seeds are played unless SEEDS says otherwise.
const seedsByDefault = 1000
