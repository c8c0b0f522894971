package picker_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/picker/plugins"
)

var sizes = []int{5, 50, 1000, 10000}

func BenchmarkDecide(b *testing.B) {
	policy := compile(b, v1alpha1.Strategy{Name: v1alpha1.Priority})
	for _, n := range sizes {
		state := crowd(n)
		b.Run(fmt.Sprintf("candidates=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				picker.Decide(policy, state)
			}
		})
	}
}

// BenchmarkDecideGrowth reports how much longer ten times the candidates take,
// as a multiple of what n log n says. It should stay near 1.
func BenchmarkDecideGrowth(b *testing.B) {
	policy := compile(b, v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion})
	const small, large = 1000, 10000
	few, many := crowd(small), crowd(large)
	var fewTime, manyTime time.Duration
	for b.Loop() {
		fewTime += timeOf(func() { picker.Decide(policy, few) })
		manyTime += timeOf(func() { picker.Decide(policy, many) })
	}
	expected := large * math.Log(large) / (small * math.Log(small))
	b.ReportMetric(float64(manyTime)/float64(fewTime)/expected, "x-nlogn")
}

func timeOf(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// crowd has n candidates of a few versions, in no order.
func crowd(n int) *picker.State {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &picker.State{Now: now, Candidates: make([]picker.Candidate, n)}
	for i := range s.Candidates {
		k := i * 7919 % n
		version := picker.ParseVersion(fmt.Sprintf("v1.%d.%d", 35+k%3, k%7))
		s.Candidates[i] = picker.Candidate{
			Name:             fmt.Sprintf("candidate-%d", k),
			Node:             fmt.Sprintf("node-%d", k%50),
			BinaryVersion:    version,
			EmulationVersion: version,
			Created:          now.Add(-time.Duration(k%100) * time.Minute),
		}
	}
	return s
}

func compile(t testing.TB, s v1alpha1.Strategy) *picker.Policy {
	t.Helper()
	spec := &v1alpha1.ElectionPolicySpec{Leases: v1alpha1.LeaseSelection{Names: []string{"a"}}, Strategy: s}
	policy, errs := plugins.Compile(picker.PolicyRef{Kind: "ElectionPolicy", Namespace: "ns", Name: "p"}, spec)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return policy
}
