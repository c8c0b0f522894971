package picker

import "strings"

// preReleaseWords are what the name of a pre-release starts with. A number of
// its own starts one too, as in Go's pseudo-versions: that is what semver says.
// Any other name is a build that a vendor made of the release, and comes after
// it: v1.31.4-gke.1183000, v1.30.2-eks-1552ad0. (To semver, that would be a
// pre-release as well.)
var preReleaseWords = [...]string{
	"alpha", "beta", "rc", "pre", "prerelease", "preview", "dev", "snapshot", "nightly", "canary",
}

// whitespace may surround a version.
const whitespace = " \t\r\n"

// parse fills in v from v.raw, which is short enough. If raw is not a version,
// v stays invalid.
func (v *Version) parse() {
	s := v.raw
	end := len(strings.TrimRight(s, whitespace))
	at := start(s[:end])
	var numbers [3]string
	for i := range numbers {
		n := digits(s[at:end])
		if n == 0 {
			return
		}
		numbers[i] = s[at : at+n]
		at += n
		if i == len(numbers)-1 || at == end || s[at] != '.' {
			break
		}
		at++
	}
	v.parseSuffix(at, end)
	if v.stage != invalid {
		v.core, v.small = pack(numbers)
	}
}

// start is where the first number of s should be.
func start(s string) int {
	trimmed := strings.TrimLeft(s, whitespace)
	return len(s) - len(strings.TrimPrefix(trimmed, "v"))
}

// parseSuffix reads raw[at:end], "", "-name", "+build" or "-name+build", and
// sets the stage unless it is none of these.
func (v *Version) parseSuffix(at, end int) {
	suffix := v.raw[at:end]
	if i := strings.IndexAny(suffix, "+_"); i >= 0 {
		if !isName(suffix[i+1:]) {
			return
		}
		suffix = suffix[:i]
	}
	if suffix == "" {
		v.stage = release
		return
	}
	name, ok := strings.CutPrefix(suffix, "-")
	if !ok || !isName(name) {
		return
	}
	v.stage = stageOf(name)
	v.tail, v.end = uint16(at+1), uint16(at+1+len(name))
}

// isName reports whether s is a list of identifiers as semver has them.
func isName(s string) bool {
	empty := true
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if empty {
				return false
			}
			empty = true
		case isDigit(c), isLetter(c), c == '-', c == '_':
			empty = false
		default:
			return false
		}
	}
	return !empty
}

func stageOf(name string) stage {
	first, _, _ := strings.Cut(name, ".")
	if digits(first) == len(first) {
		return preRelease
	}
	word := first[:letters(first)]
	for _, w := range preReleaseWords {
		if strings.EqualFold(word, w) {
			return preRelease
		}
	}
	return vendorBuild
}

// coreBits is how many bits pack uses.
const coreBits = 16 + 16 + 29

// pack makes one number of three, in the same order. If they are not small
// enough for that, the number is that of the largest version which is.
func pack(numbers [3]string) (core uint64, small bool) {
	small = true
	for i, limit := range [3]uint64{1 << 16, 1 << 16, 1 << 29} {
		n := limit - 1
		if small {
			n, small = parseSmall(numbers[i], limit)
		}
		core = core*limit + n
	}
	return core, small
}

// parseSmall reads a number below limit. For a larger one it returns limit-1.
func parseSmall(s string, limit uint64) (n uint64, ok bool) {
	for i := range len(s) {
		n = n*10 + uint64(s[i]-'0')
		if n >= limit {
			return limit - 1, false
		}
	}
	return n, true
}

// digits is the number of digits that s starts with, letters that of letters.
func digits(s string) int {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return i
		}
	}
	return len(s)
}

func letters(s string) int {
	for i := range len(s) {
		if !isLetter(s[i]) {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
