package plugins

import (
	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// recipe is what a strategy is made of. Filters and scores of its base come
// after its own.
type recipe struct {
	filters []picker.Filter
	scores  []picker.Score
	base    v1alpha1.StrategyName
	// anyEligible is Policy.AnyEligible.
	anyEligible bool
}

// recipes are the strategies, but for the parts that only a policy has: the
// preferences of Topology and the lists of Custom.
var recipes = map[v1alpha1.StrategyName]recipe{
	// In upstream's order (pickBestLeaderOldestEmulationVersion, KEP-4355): the
	// oldest candidate, which breaks a tie there, breaks every tie here.
	v1alpha1.OldestEmulationVersion: {
		filters: []picker.Filter{ValidVersion{}},
		scores:  []picker.Score{OldestEmulationVersion{}, OldestBinaryVersion{}},
	},
	v1alpha1.NewestVersion: {
		filters: []picker.Filter{ValidBinaryVersion{}},
		scores:  []picker.Score{NewestBinaryVersion{}},
	},
	v1alpha1.Priority: {
		scores: []picker.Score{Priority{}},
		base:   v1alpha1.OldestEmulationVersion,
	},
	v1alpha1.Topology:     {},
	v1alpha1.Spread:       {scores: []picker.Score{Spread{}}},
	v1alpha1.Sticky:       {scores: []picker.Score{Sticky{}}},
	v1alpha1.RolloutAware: {scores: []picker.Score{RolloutAware{}}},
	v1alpha1.FirstCome:    {anyEligible: true},
	v1alpha1.Custom:       {},
}

// bases are the strategies that may be the base of another one.
var bases = []v1alpha1.StrategyName{
	v1alpha1.NewestVersion,
	v1alpha1.OldestEmulationVersion,
	v1alpha1.RolloutAware,
	v1alpha1.Spread,
	v1alpha1.Sticky,
}
