package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/host"
)

// report is what was measured, as it is written as JSON.
type report struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Rounds   int       `json:"rounds"`
	Quick    bool      `json:"quick"`
	Machine  machine   `json:"machine"`
	Versions versions  `json:"versions"`
	Figures  []*figure `json:"figures"`
	Curves   []*curve  `json:"curves,omitempty"`
	// Notes are what figures do not say.
	Notes []string `json:"notes,omitempty"`
}

// machine is what it was measured on. The load is the average of the last
// minute, over everything that runs there.
type machine struct {
	Processors int    `json:"processors"`
	Model      string `json:"model"`
	System     string `json:"system"`
	LoadBefore string `json:"loadBefore"`
	LoadAfter  string `json:"loadAfter"`
}

type versions struct {
	Kubernetes string `json:"kubernetes"`
	Etcd       string `json:"etcd"`
	Go         string `json:"go"`
}

// figure is one line of the table.
type figure struct {
	// Row is the number of its row.
	Row  string `json:"row"`
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Result is in that unit.
	Result *result `json:"result"`
	// Ratio is how many times as much it is as what stands beside it, each round
	// by itself. Nil: nothing stands beside it.
	Ratio *result `json:"ratio,omitempty"`
	// Beside is what that is.
	Beside string `json:"beside,omitempty"`
	Target target `json:"target,omitzero"`
	// Missed says by what the target is missed. Empty: by nothing.
	Missed string `json:"missed,omitempty"`
	// Load is the load average at the end of the measurement.
	Load string `json:"load"`
}

// target is what a figure is to reach: the ratio where there is one.
type target struct {
	AtMost  float64 `json:"atMost,omitempty"`
	AtLeast float64 `json:"atLeast,omitempty"`
	// None: it is to be zero.
	None bool `json:"none,omitempty"`
}

func atMost(n float64) target  { return target{AtMost: n} }
func atLeast(n float64) target { return target{AtLeast: n} }

func newReport(o *options) *report {
	return &report{
		Started: time.Now(), Rounds: o.sizes().rounds, Quick: o.quick,
		Machine:  machine{Processors: runtime.NumCPU(), Model: host.Processor(), System: runtime.GOOS + "/" + runtime.GOARCH, LoadBefore: host.Load()},
		Versions: versions{Kubernetes: binaries.DefaultKubernetes, Etcd: binaries.DefaultEtcd, Go: runtime.Version()},
	}
}

// finish notes the end.
func (r *report) finish() { r.Finished, r.Machine.LoadAfter = time.Now(), host.Load() }

// add takes up a figure that stands for itself.
func (r *report) add(row, name, unit string, t target, values ...float64) {
	r.addBeside(row, name, unit, t, values, "", nil)
}

// addBeside takes up a figure and what it is compared to.
func (r *report) addBeside(row, name, unit string, t target, values []float64, beside string, other []float64) {
	f := &figure{Row: row, Name: name, Unit: unit, Result: newResult(values), Target: t, Load: host.Load()}
	judged := f.Result
	if other != nil {
		f.Beside, f.Ratio = beside, newResult(ratios(values, other))
		judged = f.Ratio
	}
	f.Missed = t.missed(judged)
	r.Figures = append(r.Figures, f)
}

// note adds a sentence.
func (r *report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (t target) String() string {
	switch {
	case t.None:
		return "0"
	case t.AtMost > 0:
		return fmt.Sprintf("≤ %.4g", t.AtMost)
	case t.AtLeast > 0:
		return fmt.Sprintf("≥ %.4g", t.AtLeast)
	}
	return ""
}

// missed says by what the median misses the target, or "".
func (t target) missed(r *result) string {
	switch {
	case r == nil:
	case t.None && r.High > 0:
		return fmt.Sprintf("%.4g, and not 0", r.High)
	case t.AtMost > 0 && r.Median > t.AtMost:
		return fmt.Sprintf("%.3g above it", r.Median-t.AtMost)
	case t.AtLeast > 0 && r.Median < t.AtLeast:
		return fmt.Sprintf("%.3g below it", t.AtLeast-r.Median)
	}
	return ""
}

func (r *report) asJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
