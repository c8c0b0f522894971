package picker

// Version is a version as Kubernetes writes them. TODO(H1)
type Version struct {
	raw    string
	parsed bool
}

// ParseVersion parses.
func ParseVersion(s string) Version { return Version{raw: s} }

// Compare orders.
func (v Version) Compare(o Version) int { return 0 }

// Problem says why v is not a version, or "".
func (v Version) Problem() string { return "" }

// String is the version as it was written.
func (v Version) String() string { return v.raw }
