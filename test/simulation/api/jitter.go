package api

import (
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	_ "k8s.io/apimachinery/pkg/util/wait" // whose jitter it is
)

// jitterRand is what client-go draws the jitter of its retries from. The one of
// the process would make every run another one.
//
//go:linkname jitterRand k8s.io/apimachinery/pkg/util/wait.jitterRand
var jitterRand func() float64

// jitterSeed is that of the simulation that runs.
var jitterSeed atomic.Uint64

// DeterministicJitter has client-go draw its jitter from the seed and the virtual
// time alone. Nothing is counted: in which order two clients draw that go on at
// the same moment, as those of a process do that was stopped, must not matter.
func DeterministicJitter(seed uint64) {
	jitterSeed.Store(seed)
	jitterRand = func() float64 {
		n := mix(mix(jitterSeed.Load()) ^ uint64(time.Now().UnixNano()))
		return float64(n>>11) / (1 << 53)
	}
}
