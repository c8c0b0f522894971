package plugins

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

var policyRef = picker.PolicyRef{Kind: "ElectionPolicy", Namespace: "kube-system", Name: "p"}

// specOf is the smallest spec with that strategy.
func specOf(s v1alpha1.Strategy) *v1alpha1.ElectionPolicySpec {
	return &v1alpha1.ElectionPolicySpec{
		Leases:   v1alpha1.LeaseSelection{Names: []string{"lease"}},
		Strategy: s,
	}
}

func mustCompile(t testing.TB, s v1alpha1.Strategy) *picker.Policy {
	t.Helper()
	policy, errs := Compile(policyRef, specOf(s))
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return policy
}

// versioned is a candidate of these versions; emulation "" is the binary's.
func versioned(name, binary, emulation string) picker.Candidate {
	if emulation == "" {
		emulation = binary
	}
	return picker.Candidate{
		Name:             name,
		BinaryVersion:    picker.ParseVersion(binary),
		EmulationVersion: picker.ParseVersion(emulation),
		Created:          noon,
	}
}

func stateOf(candidates ...picker.Candidate) *picker.State {
	return &picker.State{Now: noon, Candidates: candidates}
}

// checkDecision checks who is chosen and by what criterion.
func checkDecision(t *testing.T, policy *picker.Policy, s *picker.State, chosen, criterion string) {
	t.Helper()
	d := picker.Decide(policy, s)
	got := ""
	if d.Chosen != nil {
		got = d.Chosen.Name
	}
	if got != chosen || d.Criterion != criterion {
		t.Errorf("chose %q by %q, want %q by %q", got, d.Criterion, chosen, criterion)
		for _, v := range d.Verdicts {
			t.Logf("%s: eligible %v, %s %s, scores %v", v.Candidate.Name, v.Eligible, v.Filter, v.Reason, v.Scores)
		}
	}
}

// checkScores checks what a score gives each candidate, as text.
func checkScores(t *testing.T, score picker.Score, s *picker.State, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for i := range s.Candidates {
		got[s.Candidates[i].Name] = score.Score(s, &s.Candidates[i]).String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", score.Name(), diff)
	}
}

func rawJSON(s string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: json.RawMessage(s)} }

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }
