package main

import (
	"math"
	"slices"
	"time"
)

// quantile is the value below which that part of the durations is, in
// milliseconds.
func quantile(durations []time.Duration, part float64) float64 {
	if len(durations) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(durations))
	i := int(math.Ceil(part*float64(len(sorted)))) - 1
	return float64(sorted[max(i, 0)]) / float64(time.Millisecond)
}

// result is what was measured in the rounds: the median and, as benchstat has
// it, the interval that has the true median in it with a probability of at least
// 95%. With less than six rounds there is no such, and it is all of them.
type result struct {
	Median float64   `json:"median"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Values []float64 `json:"values"`
}

func newResult(values []float64) *result {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	skip := outside(n)
	return &result{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[skip], High: sorted[n-1-skip], Values: values}
}

// outside is how many of n sorted values at either end may be left out so that
// the rest has the true median among them with a probability of at least 95%:
// each value is above it with a probability of one half.
func outside(n int) int {
	left, term := 0.0, math.Pow(0.5, float64(n))
	for k := 0; ; k++ {
		left += term
		if 2*left > 0.05 {
			return max(k-1, 0)
		}
		term *= float64(n-k) / float64(k+1)
	}
}

// ratios divides the values of each round by those of another one.
func ratios(values, beside []float64) []float64 {
	all := make([]float64, min(len(values), len(beside)))
	for i := range all {
		all[i] = values[i] / beside[i]
	}
	return all
}
