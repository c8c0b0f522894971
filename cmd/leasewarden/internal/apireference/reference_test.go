package main

import (
	"os"
	"strings"
	"testing"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := reference("../../../../api/v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestReferenceIsCurrent(t *testing.T) {
	published, err := os.ReadFile("../../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(published) != page(t) {
		t.Error("docs/api.md is out of date, run: make generate")
	}
}

func TestReferenceSaysWhatIsChecked(t *testing.T) {
	text := page(t)
	for name, want := range map[string]string{
		"a required field":      "| `leases.names` | list of string | names are Lease names.",
		"limits":                "**Required.** 1 to 256 entries. Each: 1 to 253 characters.",
		"a default":             "Default: `\"Ignore\"`.",
		"a value of an enum":    "<br>`DryRun` rules in full and admits everything.",
		"a rule":                "Rule: scores belong to the strategy Custom, which needs filters or scores.",
		"a field of entries":    "| `strategy.scores[].weightedSum[].weight` | integer |",
		"Kubernetes' own types": "| `candidates.pods.selector` | LabelSelector |",
		"what a twin adds":      "`spec` is that of an ElectionPolicy, and has more:\n\n| field | type | |\n|---|---|---|\n| `namespaceSelector` |",
		"a twin's status":       "`status` is that of an ElectionPolicy.",
		"a status":              "| `dryRun.wouldDeny` | integer |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing", name, want)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 4 {
			t.Errorf("a row with other columns: %s", line)
		}
	}
}
