package picker_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/leasewarden/leasewarden/picker"
)

// rising are values in groups of the same order, the lowest group first.
var rising = [][]picker.Value{
	{{}, picker.Float(math.NaN()), picker.Newest(picker.ParseVersion("latest")), picker.Oldest(picker.Version{})},
	{picker.Float(math.Inf(-1))},
	{picker.Float(-1e19)},
	{picker.Integer(math.MinInt64), picker.Float(math.MinInt64)},
	{picker.Integer(math.MinInt64 + 1)},
	{picker.Integer(-1), picker.Float(-1)},
	{picker.Float(-0.5)},
	{picker.Integer(0), picker.Float(0), picker.Float(math.Copysign(0, -1)), picker.Unsigned(0)},
	{picker.Float(math.SmallestNonzeroFloat64)},
	{picker.Float(0.5)},
	{picker.Integer(1), picker.Unsigned(1)},
	{picker.Float(1.5)},
	{picker.Integer(1 << 53), picker.Float(1 << 53)},
	{picker.Integer(1<<53 + 1)},
	{picker.Integer(1<<53 + 2), picker.Float(1<<53 + 2)},
	{picker.Integer(math.MaxInt64 - 1)},
	{picker.Integer(math.MaxInt64), picker.Unsigned(math.MaxInt64)},
	{picker.Unsigned(1 << 63), picker.Float(1 << 63)},
	{picker.Unsigned(1<<63 + 1)},
	{picker.Unsigned(math.MaxUint64)},
	{picker.Float(1 << 64)},
	{picker.Float(math.Inf(1))},
	{picker.Newest(picker.ParseVersion("1.2.3"))},
	{picker.Newest(picker.ParseVersion("1.2.4"))},
	{picker.Newest(picker.ParseVersion("1.2.4-gke.1"))},
	{picker.Newest(picker.ParseVersion("1.2.600000000"))},
	{picker.Newest(picker.ParseVersion("1.2.600000001"))},
	{picker.Oldest(picker.ParseVersion("1.2.600000000"))},
	{picker.Oldest(picker.ParseVersion("1.2.3"))},
	{picker.Oldest(picker.ParseVersion("1.2.3-rc.0"))},
}

func TestValueCompare(t *testing.T) {
	for i, group := range rising {
		for j, other := range rising {
			for _, a := range group {
				for _, b := range other {
					if got, want := a.Compare(b), compareInts(i, j); got != want {
						t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
}

func TestValueCompareIsATotalOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		checkOrder(t, randomValue(random), randomValue(random), randomValue(random), picker.Value.Compare)
	}
}

func randomValue(r *rand.Rand) picker.Value {
	switch r.IntN(6) {
	case 0:
		return picker.Integer(int64(r.Uint64()) >> r.IntN(64))
	case 1:
		return picker.Unsigned(r.Uint64() >> r.IntN(64))
	case 2:
		return picker.Float(float64(int64(r.Uint64())>>r.IntN(64)) / float64(int(1)<<r.IntN(4)))
	case 3:
		return picker.Newest(picker.ParseVersion(randomVersion(r)))
	case 4:
		return picker.Oldest(picker.ParseVersion(randomVersion(r)))
	}
	group := rising[r.IntN(len(rising))]
	return group[r.IntN(len(group))]
}

func TestValueString(t *testing.T) {
	for want, v := range map[string]picker.Value{
		"-":                    {},
		"-7":                   picker.Integer(-7),
		"18446744073709551615": picker.Unsigned(math.MaxUint64),
		"-0.5":                 picker.Float(-0.5),
		"v1.37.2":              picker.Oldest(picker.ParseVersion("v1.37.2")),
	} {
		if got := v.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
