package plugins

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func filterNames(p *picker.Policy) (names []string) {
	for _, f := range p.Filters {
		names = append(names, f.Name())
	}
	return names
}

func TestCompileStrategies(t *testing.T) {
	zones := &v1alpha1.TopologyPreference{Order: []string{"a"}}
	plugin := func(names ...string) (entries []v1alpha1.ScoreEntry) {
		for _, name := range names {
			entries = append(entries, v1alpha1.ScoreEntry{Plugin: name})
		}
		return entries
	}
	isA := []v1alpha1.FilterEntry{{CEL: "candidate.name == 'a'"}}
	for _, test := range []struct {
		name     string
		strategy v1alpha1.Strategy
		filters  []string
		criteria []string
	}{
		{"oldest", v1alpha1.Strategy{Name: "OldestEmulationVersion"},
			[]string{"ValidVersion"}, []string{"OldestEmulationVersion", "OldestBinaryVersion"}},
		{"newest", v1alpha1.Strategy{Name: "NewestVersion"},
			[]string{"ValidBinaryVersion"}, []string{"NewestBinaryVersion"}},
		{"priority", v1alpha1.Strategy{Name: "Priority"},
			[]string{"ValidVersion"}, []string{"Priority", "OldestEmulationVersion", "OldestBinaryVersion"}},
		{"priority with a base", v1alpha1.Strategy{Name: "Priority", Base: "Spread"},
			nil, []string{"Priority", "Spread"}},
		{"topology", v1alpha1.Strategy{Name: "Topology", Topology: zones}, nil, []string{"Topology"}},
		{"topology with a base", v1alpha1.Strategy{Name: "Topology", Topology: zones, Base: "OldestEmulationVersion"},
			[]string{"ValidVersion"}, []string{"Topology", "OldestEmulationVersion", "OldestBinaryVersion"}},
		{"spread", v1alpha1.Strategy{Name: "Spread"}, nil, []string{"Spread"}},
		{"sticky", v1alpha1.Strategy{Name: "Sticky"}, nil, []string{"Sticky"}},
		{"rollout", v1alpha1.Strategy{Name: "RolloutAware", Base: "Sticky"}, nil, []string{"RolloutAware", "Sticky"}},
		{"first come", v1alpha1.Strategy{Name: "FirstCome", Filters: isA}, []string{"filters[0].cel"}, nil},
		{"filters of the policy's own", v1alpha1.Strategy{Name: "NewestVersion", Base: "OldestEmulationVersion", Filters: isA},
			[]string{"ValidBinaryVersion", "filters[0].cel", "ValidVersion"},
			[]string{"NewestBinaryVersion", "OldestEmulationVersion", "OldestBinaryVersion"}},
		{"custom", v1alpha1.Strategy{Name: "Custom", Scores: plugin("Priority", "Sticky")}, nil, []string{"Priority", "Sticky"}},
		{"custom with a base that repeats a score", v1alpha1.Strategy{
			Name: "Custom", Scores: plugin("OldestBinaryVersion"), Base: "OldestEmulationVersion",
		}, []string{"ValidVersion"}, []string{"OldestBinaryVersion", "OldestEmulationVersion"}},
		{"one plugin twice", v1alpha1.Strategy{Name: "Custom",
			Filters: []v1alpha1.FilterEntry{{Plugin: "ValidVersion"}, {Plugin: "ValidVersion"}},
			Scores: []v1alpha1.ScoreEntry{
				{Plugin: "Topology", Args: rawJSON(`{"order":["a"]}`)},
				{Plugin: "Topology", Args: rawJSON(`{"order":["r"],"key":"region"}`)},
			},
		}, []string{"ValidVersion", "filters[1].ValidVersion"}, []string{"Topology", "scores[1].Topology"}},
		{"custom filters alone", v1alpha1.Strategy{Name: "Custom", Filters: isA}, []string{"filters[0].cel"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			policy := mustCompile(t, test.strategy)
			if diff := cmp.Diff(test.filters, filterNames(policy)); diff != "" {
				t.Errorf("filters (-want +got):\n%s", diff)
			}
			if got := policy.Criteria(); !slices.Equal(got, test.criteria) {
				t.Errorf("criteria %q, want %q", got, test.criteria)
			}
			if policy.AnyEligible != (test.strategy.Name == v1alpha1.FirstCome) {
				t.Errorf("AnyEligible is %v", policy.AnyEligible)
			}
		})
	}
}

func TestCompileDefaults(t *testing.T) {
	spec := specOf(v1alpha1.Strategy{Name: v1alpha1.Sticky})
	policy, errs := Compile(policyRef, spec)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	if policy.Mode != v1alpha1.Enforce || policy.AcquireDeadline != 0 || policy.Strategy != v1alpha1.Sticky || policy.PolicyRef != policyRef {
		t.Errorf("got %+v", policy)
	}
	spec.Mode = v1alpha1.DryRun
	spec.AcquireDeadline = &metav1.Duration{Duration: time.Minute}
	if policy, _ = Compile(policyRef, spec); policy.Mode != v1alpha1.DryRun || policy.AcquireDeadline != time.Minute {
		t.Errorf("got %+v", policy)
	}
}

func TestCompileErrors(t *testing.T) {
	type spec = v1alpha1.ElectionPolicySpec
	pods := func(change func(*v1alpha1.PodCandidates)) func(*spec) {
		return func(s *spec) {
			s.Candidates.Pods = &v1alpha1.PodCandidates{
				Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
			}
			change(s.Candidates.Pods)
		}
	}
	strategy := func(strategy v1alpha1.Strategy) func(*spec) {
		return func(s *spec) { s.Strategy = strategy }
	}
	filter := func(e v1alpha1.FilterEntry) func(*spec) {
		return strategy(v1alpha1.Strategy{Name: "Sticky", Filters: []v1alpha1.FilterEntry{e}})
	}
	score := func(e v1alpha1.ScoreEntry) func(*spec) {
		return strategy(v1alpha1.Strategy{Name: "Custom", Scores: []v1alpha1.ScoreEntry{{Plugin: "Priority"}, e}})
	}
	sum := func(terms ...v1alpha1.WeightedScore) func(*spec) {
		return score(v1alpha1.ScoreEntry{WeightedSum: terms})
	}
	weight := int32(1001)
	tests := map[string]struct {
		change func(*spec)
		// want are beginnings of the errors, in order.
		want []string
	}{
		"no leases":        {func(s *spec) { s.Leases.Names = nil }, []string{"spec.leases.names: Required"}},
		"too many leases":  {func(s *spec) { s.Leases.Names = make([]string, 257) }, []string{"spec.leases.names: Too many: 257"}},
		"an empty name":    {func(s *spec) { s.Leases.Names = []string{"a", ""} }, []string{`spec.leases.names[1]: Invalid value: ""`}},
		"a bad name":       {func(s *spec) { s.Leases.Names = []string{"A?"} }, []string{`spec.leases.names[0]: Invalid value: "A?"`}},
		"a long name":      {func(s *spec) { s.Leases.Names = []string{strings.Repeat("a", 254)} }, []string{"spec.leases.names[0]: Too long"}},
		"a name twice":     {func(s *spec) { s.Leases.Names = []string{"*", "*"} }, []string{`spec.leases.names[1]: Duplicate value: "*"`}},
		"mode":             {func(s *spec) { s.Mode = "Off" }, []string{`spec.mode: Unsupported value: "Off": supported values: "Disabled", "DryRun", "Enforce"`}},
		"unregistered":     {func(s *spec) { s.Candidates.Unregistered = "Ask" }, []string{`spec.candidates.unregistered: Unsupported value: "Ask"`}},
		"acquire deadline": {func(s *spec) { s.AcquireDeadline = &metav1.Duration{Duration: -1} }, []string{`spec.acquireDeadline: Invalid value: "-1ns": must not be negative`}},
		"priority duration": {func(s *spec) { s.MaxPriorityDuration = &metav1.Duration{Duration: -time.Hour} },
			[]string{`spec.maxPriorityDuration: Invalid value: "-1h0m0s": must not be negative`}},

		"empty selector": {pods(func(p *v1alpha1.PodCandidates) { p.Selector = metav1.LabelSelector{} }), []string{"spec.candidates.pods.selector: Required"}},
		"bad selector": {pods(func(p *v1alpha1.PodCandidates) {
			p.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}
		}), []string{`spec.candidates.pods.selector.matchExpressions[0].operator: Invalid value: "Is"`}},
		"eligible":      {pods(func(p *v1alpha1.PodCandidates) { p.Eligible = "Soon" }), []string{`spec.candidates.pods.eligible: Unsupported value: "Soon"`}},
		"no lease name": {pods(func(p *v1alpha1.PodCandidates) { p.LeaseName = &v1alpha1.FieldSource{} }), []string{"spec.candidates.pods.leaseName: Invalid value"}},
		"a bad key":     {pods(func(p *v1alpha1.PodCandidates) { p.LeaseName = &v1alpha1.FieldSource{FromLabel: "a b"} }), []string{`spec.candidates.pods.leaseName.fromLabel: Invalid value: "a b"`}},
		"two version sources": {pods(func(p *v1alpha1.PodCandidates) {
			p.Version = &v1alpha1.VersionSource{FromLabel: "a", FromAnnotation: "b"}
		}), []string{"spec.candidates.pods.version: Invalid value: 2"}},
		"no version source": {pods(func(p *v1alpha1.PodCandidates) { p.EmulationVersion = &v1alpha1.VersionSource{} }), []string{"spec.candidates.pods.emulationVersion: Invalid value: 0"}},
		"bad pattern":       {pods(func(p *v1alpha1.PodCandidates) { p.IdentityPattern = "(" }), []string{`spec.candidates.pods.identityPattern: Invalid value: "(": missing closing )`}},
		"pattern without a hostname": {pods(func(p *v1alpha1.PodCandidates) { p.IdentityPattern = "(?P<host>.*)" }),
			[]string{`spec.candidates.pods.identityPattern: Invalid value: "(?P<host>.*)": must have a group named "hostname"`}},
		"long pattern": {pods(func(p *v1alpha1.PodCandidates) { p.IdentityPattern = strings.Repeat("a", 257) }), []string{"spec.candidates.pods.identityPattern: Too long"}},

		"no strategy":      {strategy(v1alpha1.Strategy{}), []string{"spec.strategy.name: Required"}},
		"unknown strategy": {strategy(v1alpha1.Strategy{Name: "Oldest"}), []string{`spec.strategy.name: Unsupported value: "Oldest": supported values: "Custom", "FirstCome", "NewestVersion"`}},
		"unknown base":     {strategy(v1alpha1.Strategy{Name: "Sticky", Base: "Custom"}), []string{`spec.strategy.base: Unsupported value: "Custom": supported values: "NewestVersion", "OldestEmulationVersion"`}},
		"its own base":     {strategy(v1alpha1.Strategy{Name: "Sticky", Base: "Sticky"}), []string{"spec.strategy.base: Invalid value"}},
		"base of nothing":  {strategy(v1alpha1.Strategy{Name: "FirstCome", Base: "Sticky"}), []string{"spec.strategy.base: Forbidden"}},
		"no topology":      {strategy(v1alpha1.Strategy{Name: "Topology"}), []string{"spec.strategy.topology: Required"}},
		"stray topology":   {strategy(v1alpha1.Strategy{Name: "Sticky", Topology: &v1alpha1.TopologyPreference{}}), []string{"spec.strategy.topology: Forbidden"}},
		"bad topology":     {strategy(v1alpha1.Strategy{Name: "Topology", Topology: &v1alpha1.TopologyPreference{}}), []string{"spec.strategy.topology: Invalid value"}},
		"stray scores":     {strategy(v1alpha1.Strategy{Name: "Sticky", Scores: []v1alpha1.ScoreEntry{{}}}), []string{"spec.strategy.scores: Forbidden"}},
		"empty custom":     {strategy(v1alpha1.Strategy{Name: "Custom"}), []string{"spec.strategy.scores: Required"}},
		"too many filters": {strategy(v1alpha1.Strategy{Name: "Sticky", Filters: make([]v1alpha1.FilterEntry, 17)}), []string{"spec.strategy.filters: Too many: 17"}},
		"too many scores":  {strategy(v1alpha1.Strategy{Name: "Custom", Scores: make([]v1alpha1.ScoreEntry, 17)}), []string{"spec.strategy.scores: Too many: 17"}},

		"empty filter":    {filter(v1alpha1.FilterEntry{}), []string{"spec.strategy.filters[0]: Required value: needs one of plugin, cel"}},
		"two filters":     {filter(v1alpha1.FilterEntry{Plugin: "ValidVersion", CEL: "true"}), []string{"spec.strategy.filters[0].cel: Forbidden: only one of plugin, cel"}},
		"stray arguments": {filter(v1alpha1.FilterEntry{CEL: "true", Args: rawJSON("{}")}), []string{"spec.strategy.filters[0].args: Forbidden"}},
		"unknown filter":  {filter(v1alpha1.FilterEntry{Plugin: "Valid"}), []string{`spec.strategy.filters[0].plugin: Unsupported value: "Valid": supported values: "ValidBinaryVersion", "ValidVersion"`}},
		"filter arguments": {filter(v1alpha1.FilterEntry{Plugin: "ValidVersion", Args: rawJSON(`{"of":"x"}`)}),
			[]string{`spec.strategy.filters[0].args: Invalid value: "{\"of\":\"x\"}": unknown field "of"`}},
		"filter is a number": {filter(v1alpha1.FilterEntry{CEL: "1"}), []string{`spec.strategy.filters[0].cel: Invalid value: "1": must give bool, gives int`}},

		"empty score":       {score(v1alpha1.ScoreEntry{}), []string{"spec.strategy.scores[1]: Required value: needs one of plugin, cel, weightedSum"}},
		"unknown score":     {score(v1alpha1.ScoreEntry{Plugin: "Prio"}), []string{`spec.strategy.scores[1].plugin: Unsupported value: "Prio": supported values: "NewestBinaryVersion"`}},
		"score arguments":   {score(v1alpha1.ScoreEntry{Plugin: "Topology", Args: rawJSON(`{"order":"a"}`)}), []string{`spec.strategy.scores[1].args: Invalid value: "{\"order\":\"a\"}": field "order" has the wrong type: string`}},
		"score is a string": {score(v1alpha1.ScoreEntry{CEL: "'a'"}), []string{`spec.strategy.scores[1].cel: Invalid value: "'a'": must give int, uint, double or bool, gives string`}},
		"syntax":            {score(v1alpha1.ScoreEntry{CEL: "1 +"}), []string{`spec.strategy.scores[1].cel: Invalid value: "1 +": 1:4: Syntax error`}},
		"unknown field":     {score(v1alpha1.ScoreEntry{CEL: "candidate.age"}), []string{`spec.strategy.scores[1].cel: Invalid value: "candidate.age": 1:10: undefined field 'age'`}},

		"too many terms":  {sum(make([]v1alpha1.WeightedScore, 9)...), []string{"spec.strategy.scores[1].weightedSum: Too many: 9"}},
		"empty term":      {sum(v1alpha1.WeightedScore{}), []string{"spec.strategy.scores[1].weightedSum[0]: Required"}},
		"heavy term":      {sum(v1alpha1.WeightedScore{Plugin: "Priority", Weight: &weight}), []string{"spec.strategy.scores[1].weightedSum[0].weight: Invalid value: 1001"}},
		"version as term": {sum(v1alpha1.WeightedScore{Plugin: "OldestBinaryVersion"}), []string{"spec.strategy.scores[1].weightedSum[0].plugin: Invalid value"}},

		"several": {func(s *spec) { s.Leases.Names, s.Mode, s.Strategy.Name = nil, "x", "" },
			[]string{"spec.leases.names: Required", "spec.mode: Unsupported", "spec.strategy.name: Required"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := specOf(v1alpha1.Strategy{Name: v1alpha1.Sticky})
			test.change(s)
			policy, errs := Compile(policyRef, s)
			if policy != nil || len(errs) != len(test.want) {
				t.Fatalf("got a policy: %v, errors: %v", policy != nil, errs)
			}
			for i, want := range test.want {
				if got := errs[i].Error(); !strings.HasPrefix(got, want) {
					t.Errorf("got  %s\nwant %s…", got, want)
				}
			}
		})
	}
}

func TestCompileNilAndEmpty(t *testing.T) {
	for _, spec := range []*v1alpha1.ElectionPolicySpec{nil, {}} {
		if policy, errs := Compile(picker.PolicyRef{}, spec); policy != nil || len(errs) == 0 {
			t.Errorf("%v: got a policy", spec)
		}
	}
}

// Every strategy compiles with what it needs, and every base is a strategy.
func TestEveryStrategyCompiles(t *testing.T) {
	for name := range recipes {
		if name == v1alpha1.Topology || name == v1alpha1.Custom {
			continue
		}
		mustCompile(t, v1alpha1.Strategy{Name: name})
	}
	for _, base := range bases {
		if _, ok := recipes[base]; !ok {
			t.Errorf("%s is no strategy", base)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"leases":{"names":["*"]},"strategy":{"name":"OldestEmulationVersion"}}`))
	f.Add([]byte(`{"leases":{"names":["a"]},"strategy":{"name":"Topology","topology":{"order":["a"]},"base":"Sticky"}}`))
	f.Add([]byte(`{"leases":{"names":["a"]},"candidates":{"pods":{"selector":{},"identityPattern":"("}},"strategy":{"name":"Custom",` +
		`"filters":[{"plugin":"ValidVersion","args":[]},{"cel":"candidate.labels.x == lease.name"}],` +
		`"scores":[{"weightedSum":[{"weight":-3,"plugin":"Spread"},{"cel":"1.5"}]},{"plugin":"Topology","args":{"order":["a"]}}]}}`))
	s := stateOf(versioned("a", "1.2.3", ""), versioned("b", "latest", ""))
	f.Fuzz(func(t *testing.T, data []byte) {
		var spec v1alpha1.ElectionPolicySpec
		if json.Unmarshal(data, &spec) != nil {
			return
		}
		policy, errs := Compile(policyRef, &spec)
		if (policy == nil) == (len(errs) == 0) {
			t.Fatalf("got a policy: %v, and errors: %v", policy != nil, errs)
		}
		for _, err := range errs {
			if !strings.HasPrefix(err.Field, "spec.") {
				t.Errorf("an error names no field of the spec: %v", err)
			}
		}
		if policy != nil {
			picker.Decide(policy, s)
		}
	})
}

// Arguments come from the API server as they were written, or empty.
func TestCompileEmptyArguments(t *testing.T) {
	for _, args := range []*apiextensionsv1.JSON{nil, {}, rawJSON("null"), rawJSON("{}")} {
		mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Custom, Scores: []v1alpha1.ScoreEntry{{Plugin: "Priority", Args: args}}})
	}
}
