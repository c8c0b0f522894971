package picker

import (
	"strconv"
	"strings"
)

// MaxVersionLength is the longest version that is read, in bytes.
const MaxVersionLength = 256

// Version is a version as Kubernetes components and container images write
// them. It is a value: copy it freely. == compares the spelling, Compare the
// order. The zero Version is not a version.
//
// What is read is what upstream reads (semver.ParseTolerant, which parses
// LeaseCandidates), and more: numbers of any size; builds of vendors; a short
// version with a suffix; "_" for the "+" that image tags and label values
// cannot hold.
type Version struct {
	raw string
	// core is the three numbers packed into one; exactly so if small says that
	// they fit.
	core uint64
	// tail and end delimit in raw what follows the third number: the name of a
	// pre-release or of a vendor's build, without the leading hyphen.
	tail, end uint16
	stage     stage
	small     bool
}

// stage is where a version stands among those with the same three numbers.
type stage uint8

const (
	invalid stage = iota
	preRelease
	release
	vendorBuild
)

// ParseVersion reads s. A string that is not a version gives a Version that
// sorts below all that are; its Problem says why.
func ParseVersion(s string) Version {
	v := Version{raw: s}
	if len(s) <= MaxVersionLength {
		v.parse()
	}
	return v
}

// isExact reports whether v.core says all that Compare looks at.
func (v *Version) isExact() bool { return v.small && v.stage == release }

// String is the version as it was written.
func (v Version) String() string { return v.raw }

// maxQuoted bounds how much of a string that is not a version is repeated.
const maxQuoted = 48

// Problem says why v is not a version, as a short phrase that names the
// string. It is empty for a version.
func (v Version) Problem() string {
	switch {
	case v.stage != invalid:
		return ""
	case strings.TrimSpace(v.raw) == "":
		return "no version is given"
	}
	quoted := strconv.QuoteToASCII(v.raw)
	if len(v.raw) > maxQuoted {
		quoted = strconv.QuoteToASCII(v.raw[:maxQuoted]) + "…"
	}
	if len(v.raw) > MaxVersionLength {
		return quoted + " is longer than " + strconv.Itoa(MaxVersionLength) + " bytes"
	}
	return quoted + " is not a version such as v1.37.2"
}
