package plugins

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/leasewarden/leasewarden/picker"
)

// maxCost bounds the evaluation of an expression for one candidate, in CEL's
// cost units. A comparison of two labels costs about 5; the bound is about a
// millisecond.
const maxCost = 10_000

// checkCost refuses an expression that may cost more than maxCost for a
// candidate of ordinary size. A candidate can be larger than that, so the bound
// is enforced at run time as well.
func checkCost(env *cel.Env, ast *cel.Ast) error {
	estimate, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: sizes{}})
	switch {
	case err != nil:
		return fmt.Errorf("its cost cannot be estimated: %w", err)
	case estimate.Max > maxCost:
		return fmt.Errorf("is too expensive: it may cost %d, at most %d is allowed", estimate.Max, maxCost)
	}
	return nil
}

// sizes estimates the sizes of the variables: what the API allows, or what is
// usual where it hardly limits them.
type sizes struct{}

var _ checker.CostEstimator = sizes{}

// Sizes, in characters or entries.
const (
	maxNameSize       = 253
	maxLabelSize      = 63
	maxKeySize        = 253 + 1 + 63
	usualEntries      = 64
	usualAnnotation   = 1024
	maxVersionSize    = picker.MaxVersionLength
	maxSources        = 4
	maxSourceNameSize = 16
)

// EstimateSize implements checker.CostEstimator.
func (sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	switch {
	case len(path) == 0: // computed in a way that CEL cannot follow
		return &checker.SizeEstimate{Max: maxNameSize}
	case len(path) == 1: // the variable itself, which is compared by its identity
		return &checker.SizeEstimate{Max: 1}
	}
	return &checker.SizeEstimate{Max: sizeOf(path[1], path[len(path)-1])}
}

// sizeOf is the size of a field, or of its keys, values or items.
func sizeOf(field, part string) uint64 {
	switch {
	case part == "@keys":
		return maxKeySize
	case part == "@values" && field == "annotations":
		return usualAnnotation
	case part == "@values":
		return maxLabelSize
	case part == "@items":
		return maxSourceNameSize
	}
	switch field {
	case "labels", "annotations", "nodeLabels":
		return usualEntries
	case "sources":
		return maxSources
	case "binaryVersion", "emulationVersion":
		return maxVersionSize
	}
	return maxNameSize
}

// EstimateCallCost implements checker.CostEstimator.
func (sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
