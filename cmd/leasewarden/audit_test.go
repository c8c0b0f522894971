package main

import (
	"path/filepath"
	"testing"
	"time"
)

// TestAuditTranscripts runs the commands in testdata and in the guide, and
// compares what they print.
func TestAuditTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/audit/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	with := stage{bin: installTestBinary(t), dir: "testdata/audit", kubeconfig: "/nonexistent"}
	for _, file := range append(files, "../../docs/auditing.md") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			with.check(t, file)
		})
	}
}

func TestProgressLine(t *testing.T) {
	for name, test := range map[string]struct {
		read, total int64
		want        string
	}{
		"a part":       {1_250_000_000, 5_000_000_000, "[######------------------] 25 % of 5.0 GB, 125 MB/s, 30s left"},
		"all":          {5_000_000, 5_000_000, "[########################] 100 % of 5 MB, 0 MB/s, 0s left"},
		"nothing":      {0, 5_000_000, "[------------------------] 0 % of 5 MB, 0 MB/s"},
		"no total":     {70_000_000, 0, "70 MB, 7 MB/s"},
		"a file grows": {70_000_000, 60_000_000, "70 MB, 7 MB/s"},
	} {
		if got := progressLine(unitBytes, test.read, test.total, 10*time.Second); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	if got, want := progressLine("runs", 50, 200, 10*time.Second), "[######------------------] 25 % of 200 runs, 5 runs/s, 30s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
