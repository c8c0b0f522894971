package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/host"
)

// report is what was measured, as it is written as JSON.
type report struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Rounds   int       `json:"rounds"`
	Machine  machine   `json:"machine"`
	Versions versions  `json:"versions"`
	Figures  []*line   `json:"figures"`
	// Stalled are the rounds that did not come to an end, and have no figures.
	Stalled []string `json:"stalled,omitempty"`
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
	Go         string `json:"go"`
}

// line is one figure for each contender.
type line struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Target string `json:"target,omitempty"`
	// Missed says by what Leasewarden misses the target. Empty: by nothing.
	Missed string `json:"missed,omitempty"`
	// Load is the load average at the end of the measurement.
	Load    string             `json:"load"`
	Results map[string]*result `json:"results"`
}

// result is what one contender reached.
type result struct {
	Median float64   `json:"median"`
	Worst  float64   `json:"worst"`
	Values []float64 `json:"values"`
}

func newReport(rounds int) *report {
	return &report{
		Started: time.Now(), Rounds: rounds,
		Machine:  machine{Processors: runtime.NumCPU(), Model: host.Processor(), System: runtime.GOOS + "/" + runtime.GOARCH, LoadBefore: host.Load()},
		Versions: versions{Kubernetes: binaries.DefaultKubernetes, Go: runtime.Version()},
	}
}

// finish notes the end.
func (r *report) finish() { r.Finished, r.Machine.LoadAfter = time.Now(), host.Load() }

// add takes up what was measured of one scenario.
func (r *report) add(m *measurement) {
	for _, c := range contenders {
		if n := m.stalled[c]; n > 0 {
			r.Stalled = append(r.Stalled, fmt.Sprintf("%s, %s: %d of %d rounds", m.name, c.name, n, r.Rounds))
		}
	}
	for i, f := range m.figures {
		l := &line{Name: f.name, Unit: f.unit, Target: f.target.String(), Load: host.Load(), Results: map[string]*result{}}
		for c, values := range m.values {
			var of []float64
			for _, v := range values {
				if !math.IsNaN(v[i]) {
					of = append(of, v[i])
				}
			}
			if len(of) == 0 {
				continue
			}
			l.Results[c.name] = newResult(of)
			if c.governed {
				l.Missed = f.target.missed(l.Results[c.name])
			}
		}
		r.Figures = append(r.Figures, l)
	}
}

func newResult(values []float64) *result {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return &result{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Worst: sorted[n-1], Values: values}
}

func (r *report) asJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// target is what a figure is to reach. Zero fields do not matter.
type target struct {
	median, worst float64
	// exactly: every single value is to be the worst.
	exactly bool
}

func (t target) String() string {
	switch {
	case t.exactly:
		return fmt.Sprintf("exactly %.0f", t.worst)
	case t.median > 0 && t.worst > 0:
		return fmt.Sprintf("≤ %.0f / ≤ %.0f", t.median, t.worst)
	case t.median > 0:
		return fmt.Sprintf("≤ %.0f / -", t.median)
	case t.worst > 0:
		return fmt.Sprintf("- / ≤ %.0f", t.worst)
	}
	return ""
}

// missed says by what the result misses the target, or "".
func (t target) missed(r *result) string {
	var parts []string
	if t.exactly {
		n := 0
		for _, v := range r.Values {
			if v != t.worst {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d are not %.0f", n, len(r.Values), t.worst))
		}
		return strings.Join(parts, ", ")
	}
	if t.median > 0 && r.Median > t.median {
		parts = append(parts, fmt.Sprintf("median %.1f above it", r.Median-t.median))
	}
	if t.worst > 0 && r.Worst > t.worst {
		parts = append(parts, fmt.Sprintf("worst %.1f above it", r.Worst-t.worst))
	}
	return strings.Join(parts, ", ")
}
