package main

import (
	"math/rand/v2"
	"time"
)

// act is one fault as it was drawn.
type act struct {
	fault   *fault
	contest *contest
	// elected is whose leader is killed meanwhile, if the fault asks for that.
	elected *contest
	// rolled is whose electors are replaced meanwhile.
	rolled *contest
	// delay is from the beginning of the rollout to the fault, meanwhile from there
	// until a leader is killed, hold until the fault is taken back.
	delay, meanwhile, hold time.Duration
	replica                int
	pick                   float64
}

// maxDelay is how much later than a rollout a fault begins at most.
const maxDelay = 6 * time.Second

// schedule draws acts. All faults come once before one comes again.
type schedule struct {
	random *rand.Rand
	faults []*fault
	left   []*fault
}

func newSchedule(seed uint64, faults []*fault) *schedule {
	return &schedule{random: rand.New(rand.NewPCG(seed, seed)), faults: faults}
}

// next draws the next act. What is drawn depends on the seed and the faults alone.
func (s *schedule) next() *act {
	if len(s.left) == 0 {
		for _, i := range s.random.Perm(len(s.faults)) {
			s.left = append(s.left, s.faults[i])
		}
	}
	a := &act{fault: s.left[0]}
	s.left = s.left[1:]
	a.contest, a.elected, a.rolled = s.contest(), s.contest(), s.contest()
	if a.fault.same {
		a.elected = a.contest
	}
	a.delay = s.between(0, maxDelay)
	a.hold = s.between(a.fault.hold[0], a.fault.hold[1])
	a.meanwhile = s.between(0, a.hold)
	a.replica, a.pick = s.random.IntN(replicas), s.random.Float64()
	return a
}

func (s *schedule) contest() *contest { return contests[s.random.IntN(len(contests))] }

func (s *schedule) between(from, to time.Duration) time.Duration {
	return from + time.Duration(s.random.Float64()*float64(to-from))
}
