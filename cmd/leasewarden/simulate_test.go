package main

import (
	"path/filepath"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestSimulateTranscripts runs the commands in testdata and in the guide, and
// compares what they print.
func TestSimulateTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/simulate/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	with := stage{bin: installTestBinary(t), dir: "testdata/simulate", kubeconfig: "/nonexistent"}
	for _, file := range append(files, "../../docs/simulating.md") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			with.check(t, file)
		})
	}
}

func TestTheSimulatedPageShowsEveryContender(t *testing.T) {
	c := newSimulateCommand(clocktesting.NewFakeClock(pickTime))
	var out strings.Builder
	c.SetOut(&out)
	c.SetContext(t.Context())
	c.SetArgs([]string{"--scenario", "testdata/simulate/upgrade.yaml", "--policy", "testdata/simulate/oldest-first.yaml", "--runs", "2", "-o", "html"})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Terms under no policy", "Terms under oldest-first", "kube-controller-manager-cp-3", "v1.37.2", "runs that violate skew"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
