package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/leasewarden/leasewarden/picker"
)

// TopologyName is the name of the score Topology.
const TopologyName = "Topology"

// defaultTopologyKey is the default of TopologyPreference.key.
const defaultTopologyKey = "topology.kubernetes.io/zone"

// maxTopologyOrder is the maxItems of TopologyPreference.order.
const maxTopologyOrder = 64

// Topology prefers candidates by a label of their node: the first value of
// Order scores len(Order), the last 1, any other value and no value 0.
type Topology struct {
	// Key is the key of a node label. Default: topology.kubernetes.io/zone.
	Key string `json:"key,omitempty"`
	// Order lists values of that label, the preferred one first: at least 1, at
	// most 64, each once.
	Order []string `json:"order"`
}

var _ picker.Score = Topology{}

// Name implements picker.Score.
func (Topology) Name() string { return TopologyName }

// Score implements picker.Score.
func (t Topology) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	value, ok := c.NodeLabels[t.Key]
	if !ok {
		return picker.Integer(0)
	}
	i := slices.Index(t.Order, value)
	if i < 0 {
		return picker.Integer(0)
	}
	return picker.Integer(int64(len(t.Order) - i))
}

func newTopology(args json.RawMessage) (picker.Score, error) {
	var t Topology
	if err := DecodeArgs(args, &t); err != nil {
		return nil, err
	}
	return t.completed()
}

// completed returns t with its default key, or what is wrong with it.
func (t Topology) completed() (Topology, error) {
	if t.Key == "" {
		t.Key = defaultTopologyKey
	}
	if problems := validation.IsQualifiedName(t.Key); len(problems) > 0 {
		return t, fmt.Errorf("field \"key\" is not the key of a label: %s", problems[0])
	}
	switch {
	case len(t.Order) == 0:
		return t, errors.New("field \"order\" must list at least one value")
	case len(t.Order) > maxTopologyOrder:
		return t, fmt.Errorf("field \"order\" lists %d values, at most %d may be listed", len(t.Order), maxTopologyOrder)
	}
	for i, value := range t.Order {
		if slices.Contains(t.Order[:i], value) {
			return t, fmt.Errorf("field \"order\" lists %q twice", value)
		}
	}
	return t, nil
}
