package plugins

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// full is a state in which every variable of an expression has a value.
func full() *picker.State {
	return &picker.State{
		Now: noon,
		Lease: picker.Lease{
			Namespace: "ns", Name: "lease", Holder: "web-0", LastHolder: "web-1", Duration: 15 * time.Second,
			Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"},
		},
		Candidates: []picker.Candidate{{
			Name: "web-0", Node: "n1", Revision: "5d8f", RevisionNumber: 4, Priority: 3,
			Sources:       []picker.Source{picker.SourcePod, picker.SourceAttempt},
			BinaryVersion: picker.ParseVersion("v1.37.2"), EmulationVersion: picker.ParseVersion("1.36"),
			Labels: map[string]string{"pool": "spot", "weight": "7"}, Annotations: map[string]string{"x/y": "z"},
			NodeLabels:  map[string]string{"zone": "a"},
			Created:     noon.Add(-time.Hour),
			LastAttempt: noon.Add(-time.Second),
		}},
	}
}

func TestCELFilter(t *testing.T) {
	for expression, want := range map[string]string{
		"true":                              "",
		"candidate.name == 'web-0'":         "",
		"candidate.name.startsWith('web-')": "",
		"candidate.node == 'n1' && candidate.revision == '5d8f' && candidate.revisionNumber == 4":                 "",
		"candidate.sources == ['Pod', 'Attempt']":                                                                 "",
		"candidate.sources.exists(s, s == 'Pod') && !('Candidate' in candidate.sources)":                          "",
		"candidate.labels['pool'] == 'spot' && candidate.labels.pool == 'spot'":                                   "",
		"candidate.annotations['x/y'] == 'z'":                                                                     "",
		"candidate.nodeLabels.zone in ['a', 'b']":                                                                 "",
		"'pool' in candidate.labels && !('none' in candidate.labels)":                                             "",
		"has(candidate.labels.pool) && !has(candidate.labels.none)":                                               "",
		"candidate.?labels['none'].orValue('x') == 'x'":                                                           "",
		"candidate.labels[?'none'].orValue('x') == 'x'":                                                           "",
		"candidate.labels.all(k, candidate.labels[k] != '')":                                                      "",
		"candidate.labels.size() == 2":                                                                            "",
		"candidate.priority == 3":                                                                                 "",
		"candidate.binaryVersion == 'v1.37.2' && candidate.emulationVersion == '1.36'":                            "",
		"semver(candidate.binaryVersion, true).isGreaterThan(semver('1.37.1'))":                                   "",
		"semver(candidate.emulationVersion, true).minor() == 36":                                                  "",
		"now - candidate.created == duration('1h')":                                                               "",
		"has(candidate.lastAttempt) && now - candidate.lastAttempt < lease.duration":                              "",
		"lease.namespace == 'ns' && lease.name == 'lease'":                                                        "",
		"lease.holder == candidate.name && lease.lastHolder == 'web-1'":                                           "",
		"lease.labels.team == 'a' && lease.annotations.note == 'b'":                                               "",
		"candidate == candidate && lease == lease":                                                                "",
		"dyn(candidate).name == 'web-0' && has(dyn(candidate).node) && !has(dyn(candidate).none)":                 "",
		"candidate.name.split('-')[1] == '0' && candidate.name.substring(4) == '0'":                               "",
		"candidate.name.upperAscii().lowerAscii().replace('web', 'x') == 'x-0'":                                   "",
		"int(candidate.name.find('[0-9]+$')) == 0 && 'a%s'.format([candidate.node]) == 'an1'":                     "",
		"[candidate.name, lease.name].exists_one(n, n.endsWith('-0')) && sets.contains(['n1'], [candidate.node])": "",
		"candidate.labels.exists(k, v, k == 'pool' && v.startsWith('sp'))":                                        "",
		"candidate.binaryVersion.startsWith(candidate.labels[?'v'].orValue('v1'))":                                "",
		"candidate.name.matches('^web-[0-9]+$')":                                                                  "",

		"false":                               "not true: false",
		"candidate.labels['pool'] != 'spot'":  "not true: candidate.labels['pool'] != 'spot'",
		"candidate.name ==\n\t'x'":            "not true: candidate.name == 'x'",
		"candidate.labels['none'] == 'spot'":  "cannot be evaluated: no such key: none; ask first whether 'none' is in the map",
		"candidate.labels.none == 'spot'":     "cannot be evaluated: no such key: none; ask first whether 'none' is in the map",
		"candidate.labels[lease.name] == 'x'": "cannot be evaluated: no such key: lease; ask first whether 'lease' is in the map",
		"dyn(candidate).none == 1":            "cannot be evaluated: no such field: none",
		"int(candidate.name) == 1":            "cannot be evaluated: type conversion error from 'string' to 'int'",
		"1 / (candidate.priority - 3) == 1":   "cannot be evaluated: division by zero",
		"candidate.sources[7] == 'Pod'":       "cannot be evaluated: index out of bounds: 7",
	} {
		policy, errs := Compile(policyRef, specOf(v1alpha1.Strategy{
			Name: v1alpha1.Custom, Filters: []v1alpha1.FilterEntry{{CEL: expression}},
		}))
		if len(errs) > 0 {
			t.Errorf("%s: %v", expression, errs)
			continue
		}
		s := full()
		if got := policy.Filters[0].Filter(s, &s.Candidates[0]); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", expression, got, want)
		}
	}
}

// What is not known is empty, and has() says so; a time cannot be empty.
func TestCELMissingValues(t *testing.T) {
	for expression, want := range map[string]string{
		"candidate.node == '' && candidate.binaryVersion == '' && candidate.sources == []":           "",
		"candidate.labels.size() == 0 && candidate.priority == 0 && lease.duration == duration('0')": "",
		"!has(candidate.node) && !has(candidate.labels) && !has(candidate.created)":                  "",
		"!has(candidate.priority) && !has(lease.holder) && !has(lease.duration)":                     "",
		"now > candidate.lastAttempt": "cannot be evaluated: candidate.lastAttempt is not known; ask has(candidate.lastAttempt) first",
	} {
		policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Custom, Filters: []v1alpha1.FilterEntry{{CEL: expression}}})
		if got := policy.Filters[0].Filter(stateOf(), &picker.Candidate{}); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", expression, got, want)
		}
	}
}

func TestCELScore(t *testing.T) {
	for expression, want := range map[string]picker.Value{
		"7":                      picker.Integer(7),
		"7u":                     picker.Integer(7),
		"18446744073709551615u":  picker.Unsigned(18446744073709551615),
		"0.5":                    picker.Float(0.5),
		"true":                   picker.Integer(1),
		"false":                  picker.Integer(0),
		"0.0 / 0.0":              {},
		"9007199254740993":       picker.Integer(9007199254740993),
		"candidate.priority * 2": picker.Integer(6),
		"int(candidate.labels.weight) + candidate.labels.size()": picker.Integer(9),
		"int(candidate.labels.none)":                             {},
		"candidate.labels.weight == '7' ? 1.5 : 2.5":             picker.Float(1.5),
	} {
		policy := mustCompile(t, celScores(expression))
		s := full()
		if got := policy.Scores[0].Score(s, &s.Candidates[0]); got != want {
			t.Errorf("%s: got %v, want %v", expression, got, want)
		}
	}
}

func celScores(expressions ...string) v1alpha1.Strategy {
	s := v1alpha1.Strategy{Name: v1alpha1.Custom}
	for _, e := range expressions {
		s.Scores = append(s.Scores, v1alpha1.ScoreEntry{CEL: e})
	}
	return s
}

// A priority that has run out is none to an expression, either.
func TestCELPriorityExpires(t *testing.T) {
	policy := mustCompile(t, celScores("candidate.priority"))
	s := full()
	s.Candidates[0].PriorityUntil = noon
	if got := policy.Scores[0].Score(s, &s.Candidates[0]); got != picker.Integer(0) {
		t.Errorf("got %v, want 0", got)
	}
}

func TestCELRefused(t *testing.T) {
	for expression, want := range map[string]string{
		"candidate.foo":                     "1:10: undefined field 'foo'",
		"candidates.size()":                 "1:1: undeclared reference to 'candidates'",
		"candidate.name":                    "must give bool, gives string",
		"dyn(true)":                         "must give bool, gives dyn",
		"Candidate{name: 'x'} == candidate": "1:10: undeclared reference to 'Candidate'",
		"candidate.name.matches('(')":       "1:24: invalid matches argument",
		"duration('x') == lease.duration":   "1:10: invalid duration argument",
		"candidate.annotations.all(a, candidate.annotations.all(b, a.contains(b)))": "is too expensive: it may cost 4215171, at most 10000 is allowed",
		strings.Repeat(" ", 1024) + "true":                                          "is longer than 1024 bytes",
	} {
		_, err := compileCEL(expression, filterTypes)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", expression, err, want)
		}
	}
}

// A candidate that is larger than any estimate does not make an evaluation
// long, and the filter says what became of it.
func TestCELCostIsBoundAtRunTime(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Custom,
		Filters: []v1alpha1.FilterEntry{{CEL: "candidate.annotations.all(k, candidate.annotations[k] != 'x')"}},
		Scores:  []v1alpha1.ScoreEntry{{CEL: "candidate.annotations.all(k, candidate.annotations[k] != 'x')"}},
	})
	c := picker.Candidate{Annotations: map[string]string{}}
	for i := range 100_000 {
		c.Annotations[fmt.Sprint(i)] = "y"
	}
	want := "cannot be evaluated: operation cancelled: actual cost limit exceeded"
	if got := policy.Filters[0].Filter(stateOf(), &c); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := policy.Scores[0].Score(stateOf(), &c); got != (picker.Value{}) {
		t.Errorf("got the score %v, want none", got)
	}
}

// A filter that is a mistake holds a Lease up for the acquire deadline, no
// longer.
func TestCELFilterThatFailsForAllIsALastResort(t *testing.T) {
	policy := mustCompile(t, v1alpha1.Strategy{Name: v1alpha1.Sticky,
		Filters: []v1alpha1.FilterEntry{{CEL: "candidate.labels['none'] == ''"}}})
	s := stateOf(picker.Candidate{Name: "a", LastAttempt: noon})
	s.Lease.ContestedSince = noon.Add(-picker.DefaultAcquireDeadline + 1)
	checkDecision(t, policy, s, "", "")
	s.Lease.ContestedSince = noon.Add(-picker.DefaultAcquireDeadline)
	checkDecision(t, policy, s, "a", picker.CriterionOnlyCandidate)
	if d := picker.Decide(policy, s); !d.LastResort || d.Verdicts[0].Reason == "" {
		t.Errorf("last resort %v, reason %q", d.LastResort, d.Verdicts[0].Reason)
	}
}

// One compiled policy serves all requests at once.
func TestCELConcurrently(t *testing.T) {
	policy := mustCompile(t, celScores("candidate.labels.all(k, k != 'x') ? candidate.priority : 0"))
	done := make(chan picker.Value)
	for range 8 {
		go func() {
			s := full()
			var last picker.Value
			for range 1000 {
				last = policy.Scores[0].Score(s, &s.Candidates[0])
			}
			done <- last
		}()
	}
	for range 8 {
		if got := <-done; got != picker.Integer(3) {
			t.Errorf("got %v, want 3", got)
		}
	}
}

func FuzzCEL(f *testing.F) {
	for _, s := range []string{
		"", "true", "1", "candidate", "lease", "now", "candidate.labels['x'] == lease.name", "[1,2].map(x, x * 2)[0]",
		"dyn(candidate)[1]", "candidate.?labels", "leasewarden.Lease{}", "{'a': candidate}['a'].name == ''",
		"candidate.annotations.map(k, k + k).join() == ''", "semver(candidate.binaryVersion)", "'\xff'",
		"candidate.labels.transformMap(k, v, k + v) == {}", "type(candidate) == type(1)", "string(now)", "candidate in [candidate]",
	} {
		f.Add(s)
	}
	s := full()
	s.Candidates = append(s.Candidates, picker.Candidate{}, large())
	f.Fuzz(func(t *testing.T, expression string) {
		if p, err := compileCEL(expression, filterTypes); err == nil {
			filter := newCELFilter("f", expression, p)
			for i := range s.Candidates {
				checkBounded(t, p, s, &s.Candidates[i])
				if reason := filter.Filter(s, &s.Candidates[i]); len(reason) > 600 {
					t.Errorf("a reason of %d bytes", len(reason))
				}
			}
		} else if len(err.Error()) > 2000 || strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of %d bytes: %q", len(err.Error()), err)
		}
		if p, err := compileCEL(expression, scoreTypes); err == nil {
			for i := range s.Candidates {
				checkBounded(t, p, s, &s.Candidates[i])
				celScore{program: p}.Score(s, &s.Candidates[i])
			}
		}
	})
}

// large is a candidate with as many annotations as the API takes.
func large() picker.Candidate {
	c := picker.Candidate{Name: "large", Annotations: map[string]string{}}
	for i := range 60 {
		c.Annotations[fmt.Sprintf("key-%d", i)] = strings.Repeat("a", 4096)
	}
	return c
}

// checkBounded checks that an expression gives a value within its budget, the
// same one twice, or an error.
func checkBounded(t *testing.T, p program, s *picker.State, c *picker.Candidate) {
	t.Helper()
	vars := &activation{candidate: view{s, c, candidateObject}, lease: view{s, c, leaseObject}}
	value, details, err := p.Eval(vars)
	if err != nil {
		return
	}
	if cost := details.ActualCost(); cost == nil || *cost > maxCost {
		t.Errorf("it cost %v", cost)
	}
	again, err := p.eval(s, c)
	if number, ok := value.Value().(float64); err != nil || again.Equal(value) != types.True && !(ok && math.IsNaN(number)) {
		t.Errorf("first %v, then %v, %v", value, again, err)
	}
}
