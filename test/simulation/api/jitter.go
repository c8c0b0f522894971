package api

import (
	"sync/atomic"
	_ "unsafe" // for go:linkname

	_ "k8s.io/apimachinery/pkg/util/wait" // whose jitter it is
)

// jitterRand is what client-go draws the jitter of its retries from. The one of
// the process would make every run another one.
//
//go:linkname jitterRand k8s.io/apimachinery/pkg/util/wait.jitterRand
var jitterRand func() float64

// nextJitter is set by each request that a client gets an answer to: what the
// client then draws depends on it alone.
var nextJitter atomic.Uint64

// DeterministicJitter has client-go draw its jitter from what the seed decides.
func DeterministicJitter() {
	jitterRand = func() float64 {
		n := mix(nextJitter.Add(1))
		return float64(n>>11) / (1 << 53)
	}
}
