package plugins

import (
	"math"
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// constant is a score that gives every candidate the same.
type constant struct{ value picker.Value }

func (constant) Name() string                                          { return "constant" }
func (c constant) Score(*picker.State, *picker.Candidate) picker.Value { return c.value }

func TestWeightedSum(t *testing.T) {
	term := func(weight int64, value picker.Value) weighted { return weighted{weight, constant{value}} }
	for _, test := range []struct {
		name  string
		terms []weighted
		want  picker.Value
	}{
		{"integers", []weighted{term(2, picker.Integer(3)), term(-1, picker.Integer(4))}, picker.Integer(2)},
		{"a weight of none", []weighted{term(0, picker.Integer(3))}, picker.Integer(0)},
		{"floats", []weighted{term(3, picker.Float(0.5)), term(1, picker.Integer(1))}, picker.Float(2.5)},
		{"exact beyond 2^53", []weighted{term(1, picker.Integer(1<<53)), term(1, picker.Integer(1))}, picker.Integer(1<<53 + 1)},
		{"rounded beyond 2^63", []weighted{term(2, picker.Integer(math.MaxInt64)), term(1, picker.Integer(1))}, picker.Float(1 << 64)},
		{"one has no score", []weighted{term(1, picker.Integer(1)), term(1, picker.Value{})}, picker.Value{}},
		{"one is a version", []weighted{term(1, picker.Newest(picker.ParseVersion("1.2.3")))}, picker.Value{}},
		{"opposite infinities", []weighted{term(1, picker.Float(math.Inf(1))), term(-1, picker.Float(math.Inf(1)))}, picker.Value{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := weightedSum{terms: test.terms}.Score(stateOf(), &picker.Candidate{})
			if got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestAddProduct(t *testing.T) {
	for _, test := range []struct {
		sum, a, b, want int64
		ok              bool
	}{
		{1, 2, 3, 7, true},
		{math.MaxInt64, 1, 0, math.MaxInt64, true},
		{math.MaxInt64, 1, 1, 0, false},
		{math.MinInt64, 1, -1, 0, false},
		{math.MinInt64, 1, 1, math.MinInt64 + 1, true},
		{0, 1000, math.MaxInt64, 0, false},
		{0, -1000, math.MinInt64, 0, false},
	} {
		got, ok := addProduct(test.sum, test.a, test.b)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%d + %d*%d = %d, %v; want %d, %v", test.sum, test.a, test.b, got, ok, test.want, test.ok)
		}
	}
}

func TestWeightedSumInAPolicy(t *testing.T) {
	weight := int32(10)
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Custom, Scores: []v1alpha1.ScoreEntry{{
		WeightedSum: []v1alpha1.WeightedScore{
			{Plugin: SpreadName, Weight: &weight},
			{CEL: "candidate.labels['tier'] == 'gold' ? 15 : 0"},
		},
	}}})
	s := stateOf(
		picker.Candidate{Name: "gold", Node: "n2", Labels: map[string]string{"tier": "gold"}},
		picker.Candidate{Name: "plain", Node: "n1", Labels: map[string]string{"tier": "-"}},
	)
	s.Lease.HeldByNode = map[string]int{"n1": 1, "n2": 2}
	checkDecision(t, policy, s, "gold", "scores[0].weightedSum")
	s.Lease.HeldByNode["n2"] = 3
	checkDecision(t, policy, s, "plain", "scores[0].weightedSum")
}
