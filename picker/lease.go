package picker

import "time"

// Lease is what a decision depends on of the Lease itself.
type Lease struct {
	Namespace, Name string
	// Holder is the Name of the candidate that holds the Lease now. Empty if
	// nobody does, or the holder is not a candidate.
	Holder string
	// LastHolder is the Name of the candidate that held it last, if Holder is
	// empty.
	LastHolder string
	// Duration is how long a term lasts without a renewal.
	Duration time.Duration
	// ContestedSince is when the first acquire attempt on the Lease, in its
	// present vacancy, was seen. Zero: it is not vacant, or nobody tried yet.
	ContestedSince time.Time
	// Expired says that the present vacancy began with a term that ran out, and
	// not with a release, or with the Lease.
	Expired bool
	// HeldByNode counts, by Node, the other governed Leases that are held there.
	HeldByNode map[string]int
	// Labels and Annotations are the Lease's.
	Labels, Annotations map[string]string
}
