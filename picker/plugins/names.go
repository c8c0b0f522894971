package plugins

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasewarden/leasewarden/picker"
)

// renamedFilter and renamedScore tell a plugin that a policy uses twice from
// its first use: an explanation must say which of them decided.
type renamedFilter struct {
	name   string
	filter picker.Filter
}

type renamedScore struct {
	name  string
	score picker.Score
}

var (
	_ picker.Filter = renamedFilter{}
	_ picker.Score  = renamedScore{}
)

// Name implements picker.Filter.
func (r renamedFilter) Name() string { return r.name }

// Filter implements picker.Filter.
func (r renamedFilter) Filter(s *picker.State, c *picker.Candidate) string {
	return r.filter.Filter(s, c)
}

// Name implements picker.Score.
func (r renamedScore) Name() string { return r.name }

// Score implements picker.Score.
func (r renamedScore) Score(s *picker.State, c *picker.Candidate) picker.Value {
	return r.score.Score(s, c)
}

// addFilter adds f, unless it could not be made. path is the entry it is from.
func (c *compiler) addFilter(f picker.Filter, path *field.Path) {
	if f == nil {
		return
	}
	if hasName(c.policy.Filters, f.Name()) {
		f = renamedFilter{entryName(path) + "." + f.Name(), f}
	}
	c.policy.Filters = append(c.policy.Filters, f)
}

// addScore adds s, unless it could not be made. path is the entry it is from.
func (c *compiler) addScore(s picker.Score, path *field.Path) {
	if s == nil {
		return
	}
	if hasName(c.policy.Scores, s.Name()) {
		s = renamedScore{entryName(path) + "." + s.Name(), s}
	}
	c.policy.Scores = append(c.policy.Scores, s)
}

// entryName is how explanations name an entry of the policy that is not a
// plugin: by its place in the strategy, such as "scores[1].cel".
func entryName(path *field.Path) string {
	return strings.TrimPrefix(path.String(), "spec.strategy.")
}

func hasName[P interface{ Name() string }](plugins []P, name string) bool {
	return slices.ContainsFunc(plugins, func(p P) bool { return p.Name() == name })
}
