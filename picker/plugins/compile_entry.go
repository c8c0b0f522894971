package plugins

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// Limits of the fields of an entry, as in the API.
const (
	maxTerms      = 8
	maxWeight     = 1000
	maxExpression = 1024
)

// filter makes the filter of an entry. It returns nil after an error.
func (c *compiler) filter(e *v1alpha1.FilterEntry, path *field.Path) picker.Filter {
	if !c.exactlyOne(path, e.Args != nil && e.Plugin == "", "plugin", e.Plugin != "", "cel", e.CEL != "") {
		return nil
	}
	if e.Plugin != "" {
		return construct(c, c.registry.Filters, e.Plugin, e.Args, path)
	}
	path = path.Child("cel")
	program, err := compileCEL(e.CEL, filterTypes)
	if err != nil {
		c.fail(field.Invalid(path, e.CEL, err.Error()))
		return nil
	}
	return newCELFilter(entryName(path), e.CEL, program)
}

// score makes the score of an entry. It returns nil after an error.
func (c *compiler) score(e *v1alpha1.ScoreEntry, path *field.Path) picker.Score {
	if !c.exactlyOne(path, e.Args != nil && e.Plugin == "",
		"plugin", e.Plugin != "", "cel", e.CEL != "", "weightedSum", len(e.WeightedSum) > 0) {
		return nil
	}
	if len(e.WeightedSum) > 0 {
		return c.weightedSum(e.WeightedSum, path.Child("weightedSum"))
	}
	return c.simpleScore(e.Plugin, e.Args, e.CEL, path)
}

// simpleScore makes a score of a plugin or an expression.
func (c *compiler) simpleScore(plugin string, args *apiextensionsv1.JSON, expression string, path *field.Path) picker.Score {
	if plugin != "" {
		return construct(c, c.registry.Scores, plugin, args, path)
	}
	path = path.Child("cel")
	program, err := compileCEL(expression, scoreTypes)
	if err != nil {
		c.fail(field.Invalid(path, expression, err.Error()))
		return nil
	}
	return celScore{name: entryName(path), program: program}
}

func (c *compiler) weightedSum(terms []v1alpha1.WeightedScore, path *field.Path) picker.Score {
	if c.tooMany(path, len(terms), maxTerms) {
		return nil
	}
	sum := weightedSum{name: entryName(path)}
	failed := len(c.errs)
	for i := range terms {
		c.term(&terms[i], path.Index(i), &sum)
	}
	if len(c.errs) > failed {
		return nil
	}
	return sum
}

// term adds one term to sum.
func (c *compiler) term(t *v1alpha1.WeightedScore, path *field.Path, sum *weightedSum) {
	weight := int32(1)
	if t.Weight != nil {
		weight = *t.Weight
	}
	if weight < -maxWeight || weight > maxWeight {
		c.fail(field.Invalid(path.Child("weight"), weight, "must be between -1000 and 1000"))
	}
	if !c.exactlyOne(path, t.Args != nil && t.Plugin == "", "plugin", t.Plugin != "", "cel", t.CEL != "") {
		return
	}
	score := c.simpleScore(t.Plugin, t.Args, t.CEL, path)
	if _, ok := score.(Ordinal); ok {
		c.fail(field.Invalid(path.Child("plugin"), t.Plugin, "orders candidates without giving a number, so it cannot be added up"))
	}
	sum.terms = append(sum.terms, weighted{weight: int64(weight), score: score})
}

// construct makes a plugin. It returns the zero P, nil, after an error.
func construct[P any](c *compiler, known map[string]func(json.RawMessage) (P, error), name string, args *apiextensionsv1.JSON, path *field.Path) (none P) {
	newPlugin, ok := known[name]
	if !ok {
		c.fail(field.NotSupported(path.Child("plugin"), name, slices.Sorted(maps.Keys(known))))
		return none
	}
	var raw json.RawMessage
	if args != nil {
		raw = args.Raw
	}
	plugin, err := newPlugin(raw)
	if err != nil {
		c.fail(field.Invalid(path.Child("args"), string(raw), err.Error()))
		return none
	}
	return plugin
}

// exactlyOne checks that one of the named fields of an entry is given, and the
// arguments only with a plugin. fields are pairs of a name and whether it is
// given.
func (c *compiler) exactlyOne(path *field.Path, strayArgs bool, fields ...any) bool {
	var names, given []string
	for i := 0; i < len(fields); i += 2 {
		names = append(names, fields[i].(string))
		if fields[i+1].(bool) {
			given = append(given, fields[i].(string))
		}
	}
	switch {
	case len(given) == 0:
		c.fail(field.Required(path, "needs one of "+strings.Join(names, ", ")))
	case len(given) > 1:
		c.fail(field.Forbidden(path.Child(given[1]), "only one of "+strings.Join(names, ", ")+" may be given"))
	case strayArgs:
		c.fail(field.Forbidden(path.Child("args"), "belongs to a plugin"))
	default:
		return true
	}
	return false
}
