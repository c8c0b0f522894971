package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// StrategyName names a strategy.
//
// +kubebuilder:validation:Enum=OldestEmulationVersion;NewestVersion;Priority;Topology;Spread;Sticky;RolloutAware;FirstCome;Custom
type StrategyName string

const (
	// OldestEmulationVersion prefers the oldest emulation version, then the
	// oldest binary version, then the oldest candidate (KEP-4355).
	OldestEmulationVersion StrategyName = "OldestEmulationVersion"
	// NewestVersion prefers the newest binary version.
	NewestVersion StrategyName = "NewestVersion"
	// Priority prefers the highest priority above 0, then the base strategy
	// (KEP-4355).
	Priority StrategyName = "Priority"
	// Topology prefers candidates by an ordered list of node label values.
	Topology StrategyName = "Topology"
	// Spread prefers the node that holds the fewest governed Leases.
	Spread StrategyName = "Spread"
	// Sticky prefers the last holder, also over its own restart.
	Sticky StrategyName = "Sticky"
	// RolloutAware prefers Pods of the newest ReplicaSet or
	// ControllerRevision.
	RolloutAware StrategyName = "RolloutAware"
	// FirstCome chooses nobody: any eligible candidate may acquire.
	FirstCome StrategyName = "FirstCome"
	// Custom has its own lists of filters and scores.
	Custom StrategyName = "Custom"
)

// Strategy says how one of the candidates is chosen: filters remove
// candidates, scores order the rest. Scores are compared one after the other;
// the first that differs decides.
//
// +kubebuilder:validation:XValidation:rule="self.name == 'Custom' ? size(self.?scores.orValue([])) > 0 || size(self.?filters.orValue([])) > 0 : size(self.?scores.orValue([])) == 0",message="scores belong to the strategy Custom, which needs filters or scores"
// +kubebuilder:validation:XValidation:rule="self.name == 'Topology' || !has(self.topology)",message="topology belongs to the strategy Topology"
// +kubebuilder:validation:XValidation:rule="self.name != 'Topology' || has(self.topology)",message="the strategy Topology needs topology"
type Strategy struct {
	// name is a built-in strategy, or Custom.
	Name StrategyName `json:"name"`

	// base is the strategy that orders candidates which the named one holds
	// equal. Default: OldestEmulationVersion for Priority; for the others the
	// oldest candidate.
	// +kubebuilder:validation:Enum=OldestEmulationVersion;NewestVersion;Spread;Sticky;RolloutAware
	// +optional
	Base StrategyName `json:"base,omitempty"`

	// topology are the ordered preferences of the strategy Topology.
	// +optional
	Topology *TopologyPreference `json:"topology,omitempty"`

	// filters remove candidates, in addition to those of the named strategy.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Filters []FilterEntry `json:"filters,omitempty"`

	// scores order the candidates, the first entry first.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Scores []ScoreEntry `json:"scores,omitempty"`
}

// TopologyPreference is an ordered preference for values of a node label.
type TopologyPreference struct {
	// key is the key of a node label. Default: topology.kubernetes.io/zone.
	// +kubebuilder:default="topology.kubernetes.io/zone"
	// +optional
	Key string `json:"key,omitempty"`
	// order lists values of that label, the preferred one first. Candidates
	// with other values come after all listed ones.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=set
	Order []string `json:"order"`
}

// FilterEntry is a filter plugin, or a CEL expression.
//
// +kubebuilder:validation:ExactlyOneOf=plugin;cel
type FilterEntry struct {
	// plugin is the name of a filter plugin.
	// +optional
	Plugin string `json:"plugin,omitempty"`
	// args are the plugin's arguments.
	// +optional
	Args *apiextensionsv1.JSON `json:"args,omitempty"`
	// cel is true for candidates that may lead. Variables: candidate, lease,
	// now.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	CEL string `json:"cel,omitempty"`
}

// ScoreEntry is a score plugin, a CEL expression, or a weighted sum of them.
//
// +kubebuilder:validation:ExactlyOneOf=plugin;cel;weightedSum
type ScoreEntry struct {
	// plugin is the name of a score plugin.
	// +optional
	Plugin string `json:"plugin,omitempty"`
	// args are the plugin's arguments.
	// +optional
	Args *apiextensionsv1.JSON `json:"args,omitempty"`
	// cel gives a number (or a boolean); the higher is preferred. Variables:
	// candidate, lease, now.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	CEL string `json:"cel,omitempty"`
	// weightedSum adds up numeric scores.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	// +optional
	WeightedSum []WeightedScore `json:"weightedSum,omitempty"`
}

// WeightedScore is one term of a weighted sum.
//
// +kubebuilder:validation:ExactlyOneOf=plugin;cel
type WeightedScore struct {
	// weight multiplies the score.
	// +kubebuilder:validation:Minimum=-1000
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:default=1
	// +optional
	Weight *int32 `json:"weight,omitempty"`
	// plugin is the name of a score plugin that gives a number.
	// +optional
	Plugin string `json:"plugin,omitempty"`
	// args are the plugin's arguments.
	// +optional
	Args *apiextensionsv1.JSON `json:"args,omitempty"`
	// cel gives a number; the higher is preferred. Variables: candidate, lease,
	// now.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	CEL string `json:"cel,omitempty"`
}
