package picker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Registry knows the filter and score plugins by name. A constructor gets the
// arguments from the policy (nil if it gives none) and returns an error that
// says what is wrong with them.
type Registry struct {
	Filters map[string]func(args json.RawMessage) (Filter, error)
	Scores  map[string]func(args json.RawMessage) (Score, error)
}

// Filter makes the filter plugin of that name.
func (r Registry) Filter(name string, args json.RawMessage) (Filter, error) {
	return build(r.Filters, "filter", name, args)
}

// Score makes the score plugin of that name.
func (r Registry) Score(name string, args json.RawMessage) (Score, error) {
	return build(r.Scores, "score", name, args)
}

func build[P any](constructors map[string]func(json.RawMessage) (P, error), kind, name string, args json.RawMessage) (P, error) {
	construct, ok := constructors[name]
	if !ok {
		var none P
		return none, fmt.Errorf("unknown %s plugin, known are %q", kind, slices.Sorted(maps.Keys(constructors)))
	}
	return construct(args)
}
