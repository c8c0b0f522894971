package api

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// Draw is a source of chances for one event: the n-th of its name. It is the
// same for a seed, whatever else happens.
func Draw(seed uint64, name string, n uint64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed^mix(n), h.Sum64()))
}

// mix spreads small numbers over all bits (splitmix64).
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// Between draws a time, in nanoseconds, so that no two fall together.
func Between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Float64()*float64(to-from))
}

// Skewed draws a time that is mostly near from, and rarely near to.
func Skewed(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(math.Pow(r.Float64(), 4)*float64(to-from))
}
