package picker

import (
	"cmp"
	"strings"
)

// Compare returns -1 if v is older than o, +1 if it is newer, and 0 if their
// order is the same, as it is for versions that differ in build metadata only.
// It is a total order and does not allocate: strings that are not versions are
// the oldest, then come the three numbers, and among those of the same numbers
// pre-releases in semver's order, the release, and vendors' builds.
func (v Version) Compare(o Version) int { return compareVersions(&v, &o) }

func compareVersions(v, o *Version) int {
	if v.small && o.small && v.core != o.core {
		return cmp.Compare(v.core, o.core)
	}
	if v.stage == invalid || o.stage == invalid {
		return cmp.Compare(min(v.stage, preRelease), min(o.stage, preRelease))
	}
	if n := compareCores(v, o); n != 0 {
		return n
	}
	if n := cmp.Compare(v.stage, o.stage); n != 0 {
		return n
	}
	switch v.stage {
	case preRelease:
		return compareNames(v.raw[v.tail:v.end], o.raw[o.tail:o.end], ".", compareIdentifiers)
	case vendorBuild:
		return compareNames(v.raw[v.tail:v.end], o.raw[o.tail:o.end], ".-", compareBuilds)
	}
	return 0
}

func compareCores(v, o *Version) int {
	if v.small && o.small {
		return cmp.Compare(v.core, o.core)
	}
	a, b := v.raw[start(v.raw):], o.raw[start(o.raw):]
	for range 3 {
		var x, y string
		x, a = nextNumber(a)
		y, b = nextNumber(b)
		if n := compareNumbers(x, y); n != 0 {
			return n
		}
	}
	return 0
}

// nextNumber splits off the number that s starts with, and the dot after it. A
// number that is not there is 0: "1.37" is 1.37.0.
func nextNumber(s string) (number, rest string) {
	n := digits(s)
	number, rest = s[:n], s[n:]
	if rest, ok := strings.CutPrefix(rest, "."); ok {
		return number, rest
	}
	return number, ""
}

// compareNumbers compares decimal numbers of any size.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if n := cmp.Compare(len(a), len(b)); n != 0 {
		return n
	}
	return strings.Compare(a, b)
}

// compareNames compares the identifiers of two names one after the other; the
// name that has fewer of them comes first.
func compareNames(a, b, separators string, compare func(a, b string) int) int {
	for {
		var x, y string
		var moreA, moreB bool
		x, a, moreA = nextIdentifier(a, separators)
		y, b, moreB = nextIdentifier(b, separators)
		if n := compare(x, y); n != 0 {
			return n
		}
		if !moreA || !moreB {
			return compareBool(moreA, moreB)
		}
	}
}

func nextIdentifier(s, separators string) (first, rest string, more bool) {
	if i := strings.IndexAny(s, separators); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// compareIdentifiers is semver's order of identifiers: numbers by value and
// before words, words by their bytes.
func compareIdentifiers(a, b string) int {
	numberA, numberB := digits(a) == len(a), digits(b) == len(b)
	switch {
	case numberA && numberB:
		return compareNumbers(a, b)
	case !numberA && !numberB:
		return strings.Compare(a, b)
	}
	return compareBool(numberB, numberA)
}

// compareBuilds is the order of the identifiers in a vendor's build: words, and
// the numbers inside of words, each by value; k3s9 is before k3s10. Commits
// have no order, so two of them are equal: none is the older for its hash.
func compareBuilds(a, b string) int {
	commitA, commitB := isCommit(a), isCommit(b)
	if commitA || commitB {
		return compareBool(commitA, commitB)
	}
	for a != "" && b != "" {
		if n := compareBool(!isDigit(a[0]), !isDigit(b[0])); n != 0 {
			return n
		}
		var x, y string
		if isDigit(a[0]) {
			x, y = a[:digits(a)], b[:digits(b)]
			if n := compareNumbers(x, y); n != 0 {
				return n
			}
		} else {
			x, y = a[:letters(a)], b[:letters(b)]
			if n := strings.Compare(x, y); n != 0 {
				return n
			}
		}
		a, b = a[len(x):], b[len(y):]
	}
	return compareBool(a != "", b != "")
}

// isCommit reports whether s looks like an abbreviated or full commit hash,
// with or without the g of "git describe".
func isCommit(s string) bool {
	s = strings.TrimPrefix(s, "g")
	if len(s) < 7 || len(s) > 40 {
		return false
	}
	hasDigit, hasLetter := false, false
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			hasDigit = true
		case 'a' <= c && c <= 'f':
			hasLetter = true
		default:
			return false
		}
	}
	return hasDigit && hasLetter
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
