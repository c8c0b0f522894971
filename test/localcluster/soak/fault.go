package main

import (
	"context"
	"slices"
	"strings"
	"time"
)

// fault is one kind of thing that goes wrong.
type fault struct {
	name string
	// hold is how long it lasts, from and to: drawn anew each time. Zero: it is
	// over as soon as it is there.
	hold [2]time.Duration
	// election says that a leader is killed meanwhile, so that the fault meets an
	// election.
	election bool
	// same says that it is the leader of the same Lease.
	same bool
	// blind says that the API server cannot ask Leasewarden meanwhile, so that
	// calls of the webhook may fail.
	blind bool
	// outage says that nobody can elect meanwhile: vacancies count from its end.
	outage bool
	// bound is how long a Lease may be vacant. Nil: asClientGo.
	bound *bound
	// inject does it, and returns what takes it back, nil if nothing does.
	inject func(ctx context.Context, s *scene) (undo func(context.Context) error, err error)
}

// faults are all that the soak knows, in the order of its table.
var faults = []*fault{
	nothing, rollout,
	killReplica, killReplicas, pauseReplica, pauseReplicas, restartReplica, restartReplicas,
	killAPIServer, pauseAPIServer, restartAPIServer,
	killEtcd, pauseEtcd, restartEtcd,
	killLeader, killFollower, pauseLeader, pauseFollower, deleteLeader, deleteFollower,
	replaceCA, removeRegistration, editPolicy,
}

// names are those of faults.
func names(of []*fault) []string {
	var all []string
	for _, f := range of {
		all = append(all, f.name)
	}
	return all
}

// chosen are the faults with one of the texts, separated by commas, in their names.
func chosen(texts string) []*fault {
	return slices.DeleteFunc(slices.Clone(faults), func(f *fault) bool {
		return !slices.ContainsFunc(strings.Split(texts, ","), func(text string) bool {
			return strings.Contains(f.name, strings.TrimSpace(text))
		})
	})
}

// limit is how long that Lease may be vacant.
func (f *fault) limit(c *contest) time.Duration { return f.within().of(c.times) }

func (f *fault) within() *bound {
	if f.bound == nil {
		return asClientGo
	}
	return f.bound
}
