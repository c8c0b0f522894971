package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/host"
	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

// report is what was seen, as it is written as JSON.
type report struct {
	Seed     uint64    `json:"seed"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Machine  machine   `json:"machine"`
	Versions versions  `json:"versions"`
	Faults   []*line   `json:"faults"`
	Leases   []*leased `json:"leases"`
	Memory   []Memory  `json:"memory"`
	// Rulings counts the attempts of the probe that Leasewarden has ruled on.
	// While nothing was in the way, Unruled counts those that nobody has, and
	// FailedCalls those calls of the webhook of which the API server says so.
	// TimedOut are how many of both took too long.
	Rulings     int `json:"rulings"`
	Unruled     int `json:"unruled"`
	FailedCalls int `json:"failedCalls"`
	TimedOut    int `json:"timedOut"`
	// EndedByThemselves are processes that ended without being asked to, and were
	// started again, as a kubelet does it, with how often.
	EndedByThemselves map[string]int `json:"endedByThemselves"`
	// Panics are lines of Leasewarden's logs that tell of one.
	Panics     []string     `json:"panics"`
	Violations []*violation `json:"violations"`

	journal *journal
	logs    []string
}

// machine is what it ran on. The load is the average of the last minute, over
// everything that runs there.
type machine struct {
	Processors int    `json:"processors"`
	Model      string `json:"model"`
	System     string `json:"system"`
	LoadBefore string `json:"loadBefore"`
	LoadAfter  string `json:"loadAfter"`
}

type versions struct {
	Kubernetes []string `json:"kubernetes"`
	Etcd       string   `json:"etcd"`
	Go         string   `json:"go"`
}

// line is what was seen of one fault.
type line struct {
	Fault string `json:"fault"`
	Times int    `json:"times"`
	// Vacancies are in seconds, over all Leases.
	Vacancies []float64 `json:"vacancies"`
	// OfBound is the largest part of its bound that a vacancy took.
	OfBound float64 `json:"ofBound"`
	Bound   string  `json:"bound"`
	Why     string  `json:"why"`
	// Changes counts new leaders, Settled is the longest time until all was as it
	// should be, in seconds, TwoLeaders how often two led at once.
	Changes    int     `json:"changes"`
	Settled    float64 `json:"settled"`
	TwoLeaders int     `json:"twoLeaders"`
	Violations int     `json:"violations"`
}

// leased is what was seen of one Lease.
type leased struct {
	Lease    string `json:"lease"`
	Electors string `json:"electors"`
	Terms    int    `json:"terms"`
	// Stale is how often an elector believed to lead after a pause, until it looked
	// at the Lease, and LongestStale for how long at most, in seconds.
	Stale        int     `json:"stale"`
	LongestStale float64 `json:"longestStale"`
}

// violation is what is not to be.
type violation struct {
	At    time.Time `json:"at"`
	Fault string    `json:"fault"`
	Lease string    `json:"lease,omitempty"`
	Text  string    `json:"text"`
	// from and to are what to look at in the journal.
	from, to time.Time
}

func newReport(o *options) *report {
	return &report{
		Seed: o.seed, Started: time.Now(),
		Machine: machine{Processors: runtime.NumCPU(), Model: host.Processor(), System: runtime.GOOS + "/" + runtime.GOARCH, LoadBefore: host.Load()},
		Versions: versions{
			Kubernetes: []string{binaries.DefaultKubernetes, oldVersion + " (kube-scheduler)"}, Etcd: binaries.DefaultEtcd, Go: runtime.Version(),
		},
	}
}

// fill takes up what was seen.
func (r *report) fill(s *scene, acts []*played, probe *probe, memory *memory, now time.Time) {
	r.Finished, r.Machine.LoadAfter, r.journal = now, host.Load(), s.journal
	r.Memory, r.Rulings, r.EndedByThemselves = memory.of, probe.rulings(), s.keeper.ended()
	leases := map[*contest]*belief.Lease{}
	for _, c := range contests {
		leases[c] = s.lease(c, now)
		r.Leases = append(r.Leases, newLeased(c, leases[c]))
		r.Violations = append(r.Violations, outlived(c, leases[c])...)
	}
	for c, lease := range leases {
		for _, two := range lease.Twos() {
			if len(acts) == 0 || two.From.Before(acts[0].From) {
				r.Violations = append(r.Violations, &violation{
					At: two.From, Fault: "before the first fault", Lease: c.name, Text: "two leaders: " + two.String(),
					from: two.From.Add(-around), to: two.To.Add(around),
				})
			}
		}
	}
	for _, f := range faults {
		if l := newLine(f); l.take(r, acts, leases) {
			r.Faults = append(r.Faults, l)
		}
	}
}

func newLine(f *fault) *line {
	return &line{Fault: f.name, Bound: f.within().formula, Why: f.within().why, Vacancies: []float64{}}
}

// take takes up the acts of the line's fault, and reports whether there are any.
func (l *line) take(r *report, acts []*played, leases map[*contest]*belief.Lease) bool {
	for _, p := range acts {
		if p.fault.name != l.Fault {
			continue
		}
		l.Times++
		l.Changes += p.changes
		l.Settled = max(l.Settled, p.settled.Seconds())
		r.Unruled += len(p.unruled)
		r.FailedCalls += len(p.failed)
		for _, failures := range [][]failure{p.unruled, p.failed} {
			timedOut, _ := split(failures)
			r.TimedOut += len(timedOut)
		}
		found := p.violations(leases)
		l.Violations += len(found)
		r.Violations = append(r.Violations, found...)
		for _, c := range contests {
			for _, v := range p.vacancies[c.name] {
				l.Vacancies = append(l.Vacancies, v.Waited.Seconds())
				l.OfBound = max(l.OfBound, v.Waited.Seconds()/p.fault.limit(c).Seconds())
			}
			for _, two := range leases[c].Twos() {
				if p.has(two.From) {
					l.TwoLeaders++
				}
			}
		}
	}
	return l.Times > 0
}

// newLeased sums up what the electors of a Lease believed.
func newLeased(c *contest, l *belief.Lease) *leased {
	of := &leased{Lease: c.name, Electors: fmt.Sprintf("%s ×%d", c.what, c.replicas()), Terms: len(l.Terms), Stale: len(l.Stale)}
	for _, s := range l.Stale {
		of.LongestStale = max(of.LongestStale, s.Length().Seconds())
	}
	return of
}

// readLogs looks for what the replicas of Leasewarden must not say.
func (r *report) readLogs(s *site) {
	for i := range replicas {
		r.logs = append(r.logs, s.cluster.ProcessLog(replicaName(i)))
	}
	for _, path := range r.logs {
		content, err := os.ReadFile(path)
		if err != nil {
			r.Violations = append(r.Violations, &violation{At: r.Finished, Text: err.Error()})
		}
		r.Panics = append(r.Panics, panics(string(content))...)
	}
	for _, text := range r.Panics {
		r.Violations = append(r.Violations, &violation{At: r.Finished, Text: "Leasewarden has panicked: " + text})
	}
	slices.SortStableFunc(r.Violations, func(a, b *violation) int { return a.At.Compare(b.At) })
}

// panics are the lines that tell of one.
func panics(log string) []string {
	var found []string
	for text := range strings.Lines(log) {
		if strings.HasPrefix(text, "panic:") || strings.HasPrefix(text, "fatal error:") || strings.Contains(text, "Observed a panic") || strings.Contains(text, "panic serving") {
			found = append(found, strings.TrimSpace(text))
		}
	}
	return found
}

func (r *report) asJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
