package plugins

import (
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/leasewarden/leasewarden/picker"
)

// activation gives an expression its variables, in one allocation.
type activation struct {
	candidate, lease view
}

var _ interpreter.Activation = (*activation)(nil)

// eval evaluates p for one candidate. It stops at maxCost with an error.
func (p program) eval(s *picker.State, c *picker.Candidate) (ref.Val, error) {
	result, _, err := p.Eval(&activation{
		candidate: view{s, c, candidateObject},
		lease:     view{s, c, leaseObject},
	})
	return result, err
}

// ResolveName implements interpreter.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "candidate":
		return &a.candidate, true
	case "lease":
		return &a.lease, true
	case "now":
		return a.candidate.state.Now, true
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (a *activation) Parent() interpreter.Activation { return nil }
