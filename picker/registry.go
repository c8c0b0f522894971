package picker

import "encoding/json"

// Registry knows the filter and score plugins by name. A constructor gets the
// arguments from the policy (nil if it gives none) and returns an error that
// says what is wrong with them.
type Registry struct {
	Filters map[string]func(args json.RawMessage) (Filter, error)
	Scores  map[string]func(args json.RawMessage) (Score, error)
}
