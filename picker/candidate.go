package picker

import (
	"cmp"
	"time"
)

// Source is where a candidate is known from.
type Source string

// The sources, in the order in which their facts are trusted.
const (
	SourcePod            Source = "Pod"
	SourceLeaseCandidate Source = "LeaseCandidate"
	SourceCandidate      Source = "Candidate"
	SourceAttempt        Source = "Attempt"
)

// Candidate is one instance that could lead a Lease. One instance known from
// several sources is one Candidate.
type Candidate struct {
	// Name is the name of the Pod, or else of the object that registers the
	// instance. It is unique among the candidates of one Lease.
	Name string
	// Sources are the sources that know the instance, the most trusted first.
	Sources []Source
	// Unavailable says why the instance can not lead at all right now, such as
	// "Pod is terminating". Empty if it can.
	Unavailable string
	// NotReady says why the policy does not hold the instance ready to lead yet,
	// such as "Pod is not Ready". Empty if it does. Some components turn ready
	// only when they lead, so this does not keep a Lease vacant for longer than
	// the acquire deadline.
	NotReady string

	// BinaryVersion and EmulationVersion are as in a LeaseCandidate.
	BinaryVersion, EmulationVersion Version
	// Priority takes precedence under the strategy Priority while above 0.
	Priority int32
	// PriorityUntil is when Priority ends. Zero: it does not.
	PriorityUntil time.Time

	// Node is the Node that the instance runs on.
	Node string
	// NodeLabels are that Node's labels.
	NodeLabels map[string]string
	// Labels and Annotations are those of the Pod or registering object, as
	// far as the policy uses them.
	Labels, Annotations map[string]string
	// Revision names the ReplicaSet or ControllerRevision that a Pod was made
	// from (its pod-template-hash or controller-revision-hash).
	Revision string
	// RevisionNumber orders the revisions of one owner, the newest highest. 0:
	// unknown.
	RevisionNumber int64

	// Created is when the Pod or registering object was created.
	Created time.Time
	// LastAttempt is when the instance last tried to acquire the Lease, by our
	// own clock. Zero: not seen since the Lease was last held.
	LastAttempt time.Time
	// Tries is how often the instance has tried in the present vacancy of the
	// Lease.
	Tries int
}

// Compare is the total order that breaks every tie: the older candidate comes
// first, then the name. Replicas with the same view so give the same answer.
func (c *Candidate) Compare(o *Candidate) int {
	if n := c.Created.Compare(o.Created); n != 0 {
		return n
	}
	return cmp.Compare(c.Name, o.Name)
}
