package picker

import (
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// DefaultAcquireDeadline holds where neither the policy nor the Lease says how
// long a vacancy may last. It is client-go's usual lease duration.
const DefaultAcquireDeadline = 15 * time.Second

// maxLeaseDeadline bounds what a Lease's own duration makes of the deadline: a
// candidate may write any.
const maxLeaseDeadline = 5 * time.Minute

// PolicyRef identifies the API object that a Policy was compiled from.
type PolicyRef struct {
	// Kind is ElectionPolicy or ClusterElectionPolicy. Namespace is empty for
	// the latter.
	Kind, Namespace, Name string
}

// String is how messages name the policy: "ElectionPolicy kube-system/a".
func (r PolicyRef) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Policy is a compiled policy. It does not change and is safe for use by
// several goroutines.
type Policy struct {
	PolicyRef
	// Mode and Strategy are as in the API object.
	Mode     v1alpha1.Mode
	Strategy v1alpha1.StrategyName
	// Preempt is when a holder has to make way. Empty: never.
	Preempt v1alpha1.PreemptWhen
	// AcquireDeadline bounds a vacancy. Zero: the Lease's own duration.
	AcquireDeadline time.Duration
	// AnyEligible lets every eligible candidate acquire.
	AnyEligible bool

	Filters []Filter
	Scores  []Score
}

// Criteria are the names of the policy's scores, in order.
func (p *Policy) Criteria() []string {
	names := make([]string, len(p.Scores))
	for i, s := range p.Scores {
		names[i] = s.Name()
	}
	return names
}

// deadline is how long a vacancy of l may last before candidates that were not
// heard are passed over.
func (p *Policy) deadline(l *Lease) time.Duration {
	switch {
	case p.AcquireDeadline > 0:
		return p.AcquireDeadline
	case l.Duration > 0:
		return min(l.Duration, maxLeaseDeadline)
	}
	return DefaultAcquireDeadline
}
