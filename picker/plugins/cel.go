package plugins

import (
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/leasewarden/leasewarden/picker"
)

// celFilter removes the candidates that its expression is not true for. One
// that it cannot be evaluated for is removed, too, and the reason says so: the
// expression was to be true for those that may lead. That this removes
// everybody, and a Lease stays vacant for a mistake in a policy, ends with the
// acquire deadline (Decision.LastResort).
type celFilter struct {
	name    string
	refusal string
	program program
}

var _ picker.Filter = celFilter{}

// maxShown bounds how much of an expression or an error is repeated in a reason.
const maxShown = 160

func newCELFilter(name, expression string, p program) celFilter {
	return celFilter{name: name, refusal: "not true: " + shortened(expression), program: p}
}

// Name implements picker.Filter.
func (f celFilter) Name() string { return f.name }

// Filter implements picker.Filter.
func (f celFilter) Filter(s *picker.State, c *picker.Candidate) string {
	result, err := f.program.eval(s, c)
	switch {
	case err != nil:
		return "cannot be evaluated: " + explainEvaluation(err)
	case result == types.True:
		return ""
	}
	return f.refusal
}

// celScore values candidates by its expression: a number, or a boolean, for
// which true is 1 and false 0. A candidate that it cannot be evaluated for has
// no score, and so comes after those that have one.
type celScore struct {
	name    string
	program program
}

var _ picker.Score = celScore{}

// Name implements picker.Score.
func (s celScore) Name() string { return s.name }

// Score implements picker.Score.
func (s celScore) Score(state *picker.State, c *picker.Candidate) picker.Value {
	result, err := s.program.eval(state, c)
	if err != nil {
		return picker.Value{}
	}
	return valueOf(result)
}

func valueOf(result ref.Val) picker.Value {
	switch v := result.(type) {
	case types.Int:
		return picker.Integer(int64(v))
	case types.Uint:
		return picker.Unsigned(uint64(v))
	case types.Double:
		return picker.Float(float64(v))
	case types.Bool:
		if v {
			return picker.Integer(1)
		}
		return picker.Integer(0)
	}
	return picker.Value{}
}

// explainEvaluation is err as a reason, with what to do about a missing key.
func explainEvaluation(err error) string {
	message := err.Error()
	if key, ok := strings.CutPrefix(message, "no such key: "); ok {
		key = shortened(key)
		return "no such key: " + key + "; ask first whether '" + key + "' is in the map"
	}
	return shortened(message)
}

// shortened is s in one line of bounded length.
func shortened(s string) string {
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return strings.Join(strings.Fields(s), " ")
}
