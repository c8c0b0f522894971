package plugins_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/picker/plugins"
)

// guide:plugin

// FewestRestartsName is the name of the score FewestRestarts.
const FewestRestartsName = "FewestRestarts"

// FewestRestarts prefers candidates that restarted less often, as an annotation
// says: its score is minus that number, none where there is no number.
type FewestRestarts struct {
	// Annotation is the key of the annotation. Required.
	Annotation string `json:"annotation"`
}

var _ picker.Score = FewestRestarts{}

// Name implements picker.Score.
func (FewestRestarts) Name() string { return FewestRestartsName }

// Score implements picker.Score.
func (f FewestRestarts) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	var restarts int64
	if json.Unmarshal([]byte(c.Annotations[f.Annotation]), &restarts) != nil {
		return picker.Value{}
	}
	return picker.Integer(-restarts)
}

func newFewestRestarts(args json.RawMessage) (picker.Score, error) {
	var f FewestRestarts
	if err := plugins.DecodeArgs(args, &f); err != nil {
		return nil, err
	}
	if f.Annotation == "" {
		return nil, errors.New(`field "annotation" must name an annotation`)
	}
	return f, nil
}

// guide:end

// A binary with a plugin of its own adds it to the registry that it compiles
// policies with.
func Example() {
	// guide:register
	registry := plugins.Registry()
	registry.Scores[FewestRestartsName] = newFewestRestarts
	// guide:end

	policy, errs := plugins.CompileWith(registry, picker.PolicyRef{Kind: "ElectionPolicy", Namespace: "ns", Name: "p"},
		&v1alpha1.ElectionPolicySpec{
			Leases: v1alpha1.LeaseSelection{Names: []string{"web"}},
			Strategy: v1alpha1.Strategy{Name: v1alpha1.Custom, Scores: []v1alpha1.ScoreEntry{{
				Plugin: FewestRestartsName,
				Args:   rawJSON(`{"annotation": "restarts"}`),
			}}},
		})
	if len(errs) > 0 {
		fmt.Println(errs.ToAggregate())
		return
	}
	decision := picker.Decide(policy, &picker.State{Candidates: []picker.Candidate{
		{Name: "web-0", Annotations: map[string]string{"restarts": "7"}},
		{Name: "web-1", Annotations: map[string]string{"restarts": "0"}},
		{Name: "web-2"},
	}})
	for _, v := range decision.Verdicts {
		fmt.Println(v.Candidate.Name, v.Scores)
	}
	fmt.Println("chosen by", decision.Criterion)
	// Output:
	// web-1 [0]
	// web-0 [-7]
	// web-2 [-]
	// chosen by FewestRestarts
}
