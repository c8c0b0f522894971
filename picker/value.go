package picker

import (
	"cmp"
	"strconv"
)

// Value is what a Score gives a candidate; the higher is preferred. The zero
// Value is lower than every other one: it stands for "no score".
type Value struct {
	kind    valueKind
	reverse bool
	integer int64
	float   float64
	version Version
}

type valueKind uint8

const (
	none valueKind = iota
	integer
	float
	version
)

// Integer is a Value that prefers the higher number.
func Integer(n int64) Value { return Value{kind: integer, integer: n} }

// Float is a Value that prefers the higher number. NaN is "no score".
func Float(f float64) Value {
	if f != f {
		return Value{}
	}
	return Value{kind: float, float: f}
}

// Newest is a Value that prefers the newer version.
func Newest(v Version) Value { return Value{kind: version, version: v} }

// Oldest is a Value that prefers the older version.
func Oldest(v Version) Value { return Value{kind: version, version: v, reverse: true} }

// Compare returns +1 if v is preferred to o, -1 if o is preferred, 0 if they
// are equal. Values of different kinds compare by kind.
func (v Value) Compare(o Value) int {
	if v.kind != o.kind {
		return cmp.Compare(v.kind, o.kind)
	}
	switch v.kind {
	case integer:
		return cmp.Compare(v.integer, o.integer)
	case float:
		return cmp.Compare(v.float, o.float)
	case version:
		if v.reverse {
			return o.version.Compare(v.version)
		}
		return v.version.Compare(o.version)
	}
	return 0
}

// Number returns the Value as a number, and whether it is one.
func (v Value) Number() (float64, bool) {
	switch v.kind {
	case integer:
		return float64(v.integer), true
	case float:
		return v.float, true
	}
	return 0, false
}

// String is the Value as a table shows it: "-" for no score.
func (v Value) String() string {
	switch v.kind {
	case integer:
		return strconv.FormatInt(v.integer, 10)
	case float:
		return strconv.FormatFloat(v.float, 'g', -1, 64)
	case version:
		return v.version.String()
	}
	return "-"
}
