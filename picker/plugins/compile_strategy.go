package plugins

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// maxEntries is the maxItems of Strategy.filters and Strategy.scores.
const maxEntries = 16

// compiler fills in the filters and scores of a policy and gathers what is
// wrong with them.
type compiler struct {
	registry picker.Registry
	policy   *picker.Policy
	errs     field.ErrorList
}

func (c *compiler) strategy(s *v1alpha1.Strategy, path *field.Path) {
	r, ok := recipes[s.Name]
	switch {
	case s.Name == "":
		c.fail(field.Required(path.Child("name"), fmt.Sprintf("supported are %q", slices.Sorted(maps.Keys(recipes)))))
		return
	case !ok:
		c.fail(field.NotSupported(path.Child("name"), s.Name, slices.Sorted(maps.Keys(recipes))))
		return
	}
	c.policy.AnyEligible = r.anyEligible
	c.addRecipe(r)
	c.topology(s, path)
	c.custom(s, path)
	c.base(s, r.base, path)
}

// topology checks the preferences of the strategy Topology and adds its score.
func (c *compiler) topology(s *v1alpha1.Strategy, path *field.Path) {
	path = path.Child("topology")
	switch {
	case s.Name != v1alpha1.Topology && s.Topology != nil:
		c.fail(field.Forbidden(path, "belongs to the strategy Topology"))
	case s.Name == v1alpha1.Topology && s.Topology == nil:
		c.fail(field.Required(path, "the strategy Topology needs it"))
	case s.Topology != nil:
		t, err := Topology{Key: s.Topology.Key, Order: s.Topology.Order}.completed()
		if err != nil {
			c.fail(field.Invalid(path, s.Topology, err.Error()))
			return
		}
		c.addScore(t, path)
	}
}

// custom compiles the policy's own lists. Filters may be added to any strategy.
func (c *compiler) custom(s *v1alpha1.Strategy, path *field.Path) {
	filters, scores := path.Child("filters"), path.Child("scores")
	isCustom := s.Name == v1alpha1.Custom
	switch {
	case isCustom && len(s.Filters) == 0 && len(s.Scores) == 0:
		c.fail(field.Required(scores, "the strategy Custom needs filters or scores"))
	case !isCustom && len(s.Scores) > 0:
		c.fail(field.Forbidden(scores, "belongs to the strategy Custom; name another strategy as base to order equal candidates"))
		return
	}
	if c.tooMany(filters, len(s.Filters), maxEntries) || c.tooMany(scores, len(s.Scores), maxEntries) {
		return
	}
	for i := range s.Filters {
		c.addFilter(c.filter(&s.Filters[i], filters.Index(i)), filters.Index(i))
	}
	for i := range s.Scores {
		c.addScore(c.score(&s.Scores[i], scores.Index(i)), scores.Index(i))
	}
}

// base adds the base strategy, whose name is fallback unless the policy says
// another one.
func (c *compiler) base(s *v1alpha1.Strategy, fallback v1alpha1.StrategyName, path *field.Path) {
	path = path.Child("base")
	switch {
	case s.Base == "":
		c.addRecipe(recipes[fallback])
	case !slices.Contains(bases, s.Base):
		c.fail(field.NotSupported(path, s.Base, bases))
	case s.Base == s.Name:
		c.fail(field.Invalid(path, s.Base, "is the strategy itself"))
	case s.Name == v1alpha1.FirstCome:
		c.fail(field.Forbidden(path, "the strategy FirstCome orders nobody"))
	default:
		c.addRecipe(recipes[s.Base])
	}
}

// addRecipe adds the filters and scores of r that are not there yet: to compare
// by the same score again would change nothing.
func (c *compiler) addRecipe(r recipe) {
	for _, f := range r.filters {
		if !hasName(c.policy.Filters, f.Name()) {
			c.policy.Filters = append(c.policy.Filters, f)
		}
	}
	for _, s := range r.scores {
		if !hasName(c.policy.Scores, s.Name()) {
			c.policy.Scores = append(c.policy.Scores, s)
		}
	}
}

func (c *compiler) tooMany(path *field.Path, n, limit int) bool {
	if n > limit {
		c.fail(field.TooMany(path, n, limit))
	}
	return n > limit
}

func (c *compiler) fail(err *field.Error) { c.errs = append(c.errs, err) }
