package simulate

import (
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/picker"
)

// step does what the scenario says.
func (r *run) step(s *Step) {
	switch {
	case s.Replace != nil:
		r.replace(s.Replace)
	case s.Crash != nil:
		for _, x := range r.concerned(s.Crash) {
			x.crash(s.Crash.For.Duration)
		}
	case s.Lose != nil:
		for _, x := range r.concerned(s.Lose) {
			x.lose(s.Lose.For.Duration)
		}
	case s.CutOff != nil:
		r.cutOff(s.CutOff)
	case s.Rollout != nil:
		r.rollOut(s.Rollout)
	}
}

// concerned are the replicas that an outage concerns.
func (r *run) concerned(o *Outage) []*replica {
	if o.Replica == Leader {
		if leader := r.leader(); leader != nil {
			return []*replica{leader}
		}
		return nil
	}
	var all []*replica
	for _, x := range r.replicas {
		if o.Replica != "" && x.Name == o.Replica || o.Zone != "" && x.Zone == o.Zone {
			all = append(all, x)
		}
	}
	return all
}

func (r *run) cutOff(o *Outage) {
	all := r.concerned(o)
	for _, x := range all {
		x.cutOff = true
	}
	if o.For.Duration > 0 {
		r.after(o.For.Duration, func() {
			for _, x := range all {
				x.cutOff = false
			}
		})
	}
}

// replace stops everything on a node, and starts it again after a while.
func (r *run) replace(s *Replace) {
	delete(r.apiServers, s.Node)
	for _, x := range r.replicas {
		if x.Node == s.Node {
			x.terminate()
		}
	}
	r.measured.versions()
	r.after(s.Down.Duration+time.Second, func() {
		for _, server := range r.scenario.APIServers {
			if server.Node == s.Node {
				version := server.Version
				if s.Version != "" {
					version = s.Version
				}
				r.apiServers[s.Node] = picker.ParseVersion(version)
			}
		}
		for _, x := range r.replicas {
			if x.Node == s.Node && x.stopped {
				if s.Version != "" {
					x.Version = s.Version
				}
				x.start()
			}
		}
		r.measured.versions()
	})
}

// rollOut replaces the replicas one by one: one more is started, and when it is
// ready, one of the old ones is stopped.
func (r *run) rollOut(s *Rollout) {
	r.revision++
	r.rolling = true
	r.addRevision()
	old := append([]*replica(nil), r.replicas...)
	r.random.Shuffle(len(old), func(i, j int) { old[i], old[j] = old[j], old[i] })
	r.surge(s, old, r.revision)
}

func (r *run) surge(s *Rollout, old []*replica, revision int) {
	if len(old) == 0 || revision != r.revision {
		r.rolling = r.rolling && revision != r.revision
		return
	}
	next := old[0].Replica
	next.Name = fmt.Sprintf("%s-r%d", baseName(next.Name), revision)
	next.Version = s.Version
	r.add(next)
	r.after(s.Ready.Duration, func() {
		old[0].terminate()
		for i, x := range r.replicas {
			if x == old[0] {
				r.replicas = append(r.replicas[:i], r.replicas[i+1:]...)
				break
			}
		}
		r.surge(s, old[1:], revision)
	})
}

// baseName is a replica's name without the revision.
func baseName(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] < '0' || name[i] > '9' {
			if name[i] == 'r' && name[i-1] == '-' && i < len(name)-1 {
				return name[:i-1]
			}
			break
		}
	}
	return name
}
