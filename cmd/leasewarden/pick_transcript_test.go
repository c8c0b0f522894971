package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write down what the commands in transcripts print")

// asMain makes the test binary the command itself.
const asMain = "LEASEWARDEN_TEST_AS_MAIN"

func init() {
	if os.Getenv(asMain) != "" {
		main()
		os.Exit(0)
	}
}

// TestPickTranscripts runs the commands in testdata and in the guide, and
// compares what they print: what a person is shown there is what happens.
func TestPickTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/pick/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	bin := installTestBinary(t)
	for _, file := range append(files, "../../docs/picking.md") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			checkTranscript(t, bin, file)
		})
	}
}

// installTestBinary makes a directory with a command "leasewarden".
func installTestBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asMain, self)
	if err := os.WriteFile(filepath.Join(bin, "leasewarden"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}

func checkTranscript(t *testing.T, bin, file string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := replay(t, bin, string(want), strings.HasSuffix(file, ".md"))
	if *update && got != string(want) {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; run with -update to accept):\n%s", file, diff)
	}
}

// replay runs every line that begins with a dollar sign, and puts what it
// prints in the place of the lines up to the next such line. In Markdown, only
// blocks marked "console" are transcripts.
func replay(t *testing.T, bin, transcript string, markdown bool) string {
	t.Helper()
	var out strings.Builder
	inside, printed := !markdown, false
	for line := range strings.Lines(transcript) {
		fence := markdown && strings.HasPrefix(line, "```")
		if fence {
			inside, printed = strings.HasPrefix(line, "```console"), false
		}
		command, isCommand := strings.CutPrefix(line, "$ ")
		if !printed || isCommand && inside {
			out.WriteString(line)
		}
		if inside && isCommand {
			out.WriteString(runShell(t, bin, command))
			printed = true
		}
	}
	return out.String()
}

func runShell(t *testing.T, bin, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Dir = "testdata/pick"
	shell.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG=/nonexistent", "HOME=/nonexistent")
	printed, err := shell.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return fmt.Sprintf("%s[exit status %d]\n", printed, exit.ExitCode())
	case err != nil:
		t.Fatalf("%s: %v", command, err)
	}
	return string(printed)
}
