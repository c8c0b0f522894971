package main

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for i := range 100 {
		all = append(all, time.Duration(100-i)*time.Millisecond)
	}
	for part, want := range map[float64]float64{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := quantile(all, part); got != want {
			t.Errorf("%v: got %v, want %v", part, got, want)
		}
	}
}

// How many values may be left out on either side follows from the binomial
// distribution: of 10, 1 (97.9%), because 2 would be 89.1%.
func TestInterval(t *testing.T) {
	for n, want := range map[int]int{1: 0, 5: 0, 6: 0, 8: 0, 9: 1, 10: 1, 12: 2, 20: 5} {
		if got := outside(n); got != want {
			t.Errorf("of %d: got %d, want %d", n, got, want)
		}
		covered := 0.0
		for k := range n + 1 {
			if k > want && k < n-want {
				covered += choose(n, k) / math.Pow(2, float64(n))
			}
		}
		if n >= 6 && covered < 0.95 {
			t.Errorf("of %d, the rest has the median with a probability of %.3f", n, covered)
		}
	}
	r := newResult([]float64{9, 1, 8, 2, 7, 3, 6, 4, 5, 10})
	if r.Median != 5.5 || r.Low != 2 || r.High != 9 {
		t.Errorf("got %+v", r)
	}
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

func TestMissed(t *testing.T) {
	r := &report{}
	r.addBeside("1", "slow", "ms", atMost(1.2), []float64{3, 2.6, 2}, "it", []float64{2, 2, 2})
	r.addBeside("1", "fast", "ms", atMost(1.2), []float64{2, 2.2}, "it", []float64{2, 2})
	r.addBeside("3", "few", "/s", atLeast(0.95), []float64{80}, "it", []float64{100})
	r.add("4", "much", "MiB", atMost(100), 150)
	r.add("4", "calls", "", target{None: true}, 0, 2)
	r.add("4", "no calls", "", target{None: true}, 0)
	want := []string{"0.1 above it", "", "0.15 below it", "50 above it", "2, and not 0", ""}
	for i, f := range r.Figures {
		if f.Missed != want[i] {
			t.Errorf("%s: got %q, want %q", f.Name, f.Missed, want[i])
		}
	}
}

// Every line of the table fits 80 columns, with figures of the usual size.
func TestTableFitsTheScreen(t *testing.T) {
	r := newReport(&options{rounds: 10})
	r.addBeside("2", "a Pod's event, published, 10000 Leases", "ms", target{}, []float64{1.234}, "nothing installed", []float64{1.111})
	r.add("4", "processor, 1000 Leases, 3000 Pods", "%", atMost(2), 1.5)
	r.add("5", "ready after, and 100000 other Pods", "s", atMost(10), 12.25)
	var text strings.Builder
	r.table(&text)
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"1.23 ms", "1.11x (1.11-1.11)", "Missed: row 5, ready after, and 100000 other Pods: 2.25 above it."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in %s", want, text.String())
		}
	}
}

func TestCurveIsDrawn(t *testing.T) {
	r := &report{Curves: []*curve{
		{Title: "Memory", X: "Leases", Y: "MiB", Limit: 300, Points: []point{{1000, 50}, {5000, 120}, {10000, 210}}},
		{Title: "Cost", X: "Leases", Y: "µs", Logarithmic: true, Points: []point{{10, 2.5}, {10000, 2.6}}},
		{Title: "One", X: "x", Y: "y", Points: []point{{0, 1}, {1, 1}}},
	}}
	var text strings.Builder
	if err := r.asSVG(&text); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, text.String())
	if strings.Contains(text.String(), "NaN") || strings.Contains(text.String(), "Inf") {
		t.Error(text.String())
	}
	if n := strings.Count(text.String(), "<circle"); n != 7 {
		t.Errorf("%d points are drawn, want 7", n)
	}
}

// Each worker has Leases of its own, each of which it renews once in a turn.
func TestNextRenewal(t *testing.T) {
	for _, n := range []int{workers, workers + 1, 1000} {
		renewed := map[int]int{}
		for worker := range workers {
			mine := map[int]bool{}
			for k := worker; k < 3*n; k = next(k, n) {
				renewed[k]++
				mine[k%n] = true
			}
			for i := range mine {
				if i%workers != worker {
					t.Fatalf("of %d, worker %d renews Lease %d", n, worker, i)
				}
			}
		}
		for k := range 3 * n {
			if renewed[k] != 1 {
				t.Fatalf("of %d, renewal %d is done %d times", n, k, renewed[k])
			}
		}
	}
}
