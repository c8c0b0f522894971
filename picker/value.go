package picker

import (
	"cmp"
	"math"
	"strconv"
)

// Value is what a Score gives a candidate; the higher is preferred. The zero
// Value is lower than every other one: it stands for "no score".
type Value struct {
	kind valueKind
	// bits is the number, by its kind.
	bits    uint64
	version Version
}

// valueKind is ordered as Values of different kinds are; the three numeric
// kinds are compared by value.
type valueKind uint8

const (
	noScore valueKind = iota
	integer
	unsigned // above math.MaxInt64
	float
	newest
	oldest
)

// Integer is a Value that prefers the higher number.
func Integer(n int64) Value { return Value{kind: integer, bits: uint64(n)} }

// Unsigned is a Value that prefers the higher number.
func Unsigned(n uint64) Value {
	if n <= math.MaxInt64 {
		return Integer(int64(n))
	}
	return Value{kind: unsigned, bits: n}
}

// Float is a Value that prefers the higher number. NaN is "no score".
func Float(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	return Value{kind: float, bits: math.Float64bits(f)}
}

// Newest is a Value that prefers the newer version. What is not a version is
// "no score".
func Newest(v Version) Value { return ofVersion(newest, v) }

// Oldest is a Value that prefers the older version. What is not a version is
// "no score", so that it is never preferred for being the oldest of all.
func Oldest(v Version) Value { return ofVersion(oldest, v) }

func ofVersion(k valueKind, v Version) Value {
	if v.stage == invalid {
		return Value{}
	}
	return Value{kind: k, version: v}
}

// Compare returns +1 if v is preferred to o, -1 if o is preferred, 0 if they
// are equal. It is a total order. Numbers compare exactly, of whatever size and
// kind; a number and a version compare by kind.
func (v Value) Compare(o Value) int { return compareValues(&v, &o) }

func compareValues(v, o *Value) int {
	if v.kind != o.kind {
		if v.kind.numeric() && o.kind.numeric() {
			return compareNumeric(v, o)
		}
		return cmp.Compare(v.kind, o.kind)
	}
	switch v.kind {
	case integer:
		return cmp.Compare(int64(v.bits), int64(o.bits))
	case unsigned:
		return cmp.Compare(v.bits, o.bits)
	case float:
		return cmp.Compare(math.Float64frombits(v.bits), math.Float64frombits(o.bits))
	case newest:
		return compareVersions(&v.version, &o.version)
	case oldest:
		return compareVersions(&o.version, &v.version)
	}
	return 0
}

func (k valueKind) numeric() bool { return integer <= k && k <= float }

// compareNumeric compares numbers of different kinds.
func compareNumeric(v, o *Value) int {
	switch {
	case v.kind == float:
		return -compareWithFloat(o, math.Float64frombits(v.bits))
	case o.kind == float:
		return compareWithFloat(v, math.Float64frombits(o.bits))
	}
	return cmp.Compare(v.kind, o.kind)
}

// compareWithFloat compares the integer or unsigned v with f, without rounding
// v to a float, which would lose what is beyond 2^53.
func compareWithFloat(v *Value, f float64) int {
	switch {
	case f >= 1<<64:
		return -1
	case f < -(1 << 63):
		return 1
	case v.kind == integer && f >= 1<<63:
		return -1
	case v.kind == unsigned && f < 1<<63:
		return 1
	}
	whole := math.Trunc(f)
	n := 0
	if v.kind == integer {
		n = cmp.Compare(int64(v.bits), int64(whole))
	} else {
		n = cmp.Compare(v.bits, uint64(whole))
	}
	if n == 0 {
		return cmp.Compare(whole, f)
	}
	return n
}

// maxExactKey bounds the integers that have a sortKey of their own.
const maxExactKey = 1 << 49

// sortKey returns a number that is not lower for a Value that is preferred: a
// shortcut, as most Values differ in it. It is exact if only an equal Value has
// the same key.
func (v *Value) sortKey() (key uint64, exact bool) {
	switch v.kind {
	case noScore:
		return 0, true
	case newest:
		return 2<<coreBits | v.version.core, v.version.isExact()
	case oldest:
		return 3<<coreBits | (1<<coreBits - 1 - v.version.core), v.version.isExact()
	}
	f, _ := v.Number()
	bits := math.Float64bits(f + 0) // -0 is 0
	if f < 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	n, isInt := v.Int()
	return 1<<coreBits | bits>>(64-coreBits), isInt && -maxExactKey < n && n < maxExactKey
}

// Int returns the Value as an int64, and whether it is one.
func (v Value) Int() (int64, bool) { return int64(v.bits), v.kind == integer }

// Number returns the Value as a number, rounded to a float64, and whether it is
// one.
func (v Value) Number() (float64, bool) {
	switch v.kind {
	case integer:
		return float64(int64(v.bits)), true
	case unsigned:
		return float64(v.bits), true
	case float:
		return math.Float64frombits(v.bits), true
	}
	return 0, false
}

// String is the Value as a table shows it: "-" for no score.
func (v Value) String() string {
	switch v.kind {
	case integer:
		return strconv.FormatInt(int64(v.bits), 10)
	case unsigned:
		return strconv.FormatUint(v.bits, 10)
	case float:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	case newest, oldest:
		return v.version.String()
	}
	return "-"
}
