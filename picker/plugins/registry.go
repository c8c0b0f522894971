package plugins

import (
	"encoding/json"

	"github.com/leasewarden/leasewarden/picker"
)

// Registry returns the built-in plugins, one line each. The caller may add to
// it and compile with CompileWith.
func Registry() picker.Registry {
	return picker.Registry{
		Filters: map[string]func(json.RawMessage) (picker.Filter, error){
			ValidVersionName:       newFilter(ValidVersion{}),
			ValidBinaryVersionName: newFilter(ValidBinaryVersion{}),
		},
		Scores: map[string]func(json.RawMessage) (picker.Score, error){
			NewestBinaryVersionName:    newScore(NewestBinaryVersion{}),
			NewestEmulationVersionName: newScore(NewestEmulationVersion{}),
			OldestBinaryVersionName:    newScore(OldestBinaryVersion{}),
			OldestEmulationVersionName: newScore(OldestEmulationVersion{}),
			PriorityName:               newScore(Priority{}),
			RolloutAwareName:           newScore(RolloutAware{}),
			SpreadName:                 newScore(Spread{}),
			StickyName:                 newScore(Sticky{}),
			TopologyName:               newTopology,
		},
	}
}
