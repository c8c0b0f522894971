package main

import (
	"path/filepath"
	"testing"
)

// TestPickTranscripts runs the commands in testdata and in the guide, and
// compares what they print: what a person is shown there is what happens.
func TestPickTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/pick/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	with := stage{bin: installTestBinary(t), dir: "testdata/pick", kubeconfig: "/nonexistent"}
	for _, file := range append(files, "../../docs/picking.md") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			with.check(t, file)
		})
	}
}
