package main

import (
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

const (
	// grace is what the machine may take: the kubelet looks for ended containers
	// once a second, and an elector takes a moment to start.
	grace = 5 * time.Second
	// jitter is how much longer than its retry period client-go waits between two
	// tries at most.
	jitter = 2.2
)

// bound is how long a Lease may be vacant, and why.
type bound struct {
	formula, why string
	of           func(elector.Timings) time.Duration
}

var (
	// asClientGo is what a Lease takes without Leasewarden.
	asClientGo = &bound{
		formula: "lease duration + 2.2 retry periods + 5 s",
		why:     "a dead leader's term runs out, and the next try takes the Lease: as without Leasewarden",
		of:      func(t elector.Timings) time.Duration { return t.LeaseDuration + try(t) + grace },
	}
	// withDeadline is what Leasewarden promises at worst.
	withDeadline = &bound{
		formula: "2 lease durations + 2.2 retry periods + 5 s",
		why:     "nobody releases the Lease, so its term runs out; then the chosen one may be waited for until the acquireDeadline, which is the lease duration",
		of:      func(t elector.Timings) time.Duration { return 2*t.LeaseDuration + try(t) + grace },
	}
	// afterOutage is withDeadline, from the return of the API server on.
	afterOutage = &bound{
		formula: withDeadline.formula + ", from its return on",
		why:     "while it is away nobody can elect; what is known of the candidates is old when it returns",
		of:      withDeadline.of,
	}
)

func try(t elector.Timings) time.Duration { return time.Duration(jitter * float64(t.RetryPeriod)) }
