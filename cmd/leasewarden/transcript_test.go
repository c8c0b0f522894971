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
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
)

var update = flag.Bool("update", false, "write down what the commands in transcripts print")

// asMain makes the test binary the command itself, at the time of pickTime.
const asMain = "LEASEWARDEN_TEST_AS_MAIN"

func init() {
	if os.Getenv(asMain) != "" {
		os.Exit(run(newStepClock(pickTime)))
	}
}

// stepClock is a clock that only passes when somebody waits, and at once then.
type stepClock struct {
	clock.RealClock
	mu  sync.Mutex
	now time.Time
}

func newStepClock(now time.Time) *stepClock { return &stepClock{now: now} }

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *stepClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	fired := make(chan time.Time, 1)
	fired <- c.now
	return fired
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

// stage is where the commands of a transcript run.
type stage struct {
	// bin is a directory with the command, dir the working directory.
	bin, dir   string
	kubeconfig string
}

// check compares a transcript with what its commands print.
func (s *stage) check(t *testing.T, file string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := s.replay(t, string(want), strings.HasSuffix(file, ".md"))
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
func (s *stage) replay(t *testing.T, transcript string, markdown bool) string {
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
			out.WriteString(s.run(t, command))
			printed = true
		}
	}
	return out.String()
}

func (s *stage) run(t *testing.T, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Dir = s.dir
	shell.Env = s.environment()
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

// environment has the command before all others, and the cluster.
func (s *stage) environment() []string {
	return append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG="+s.kubeconfig, "HOME=/nonexistent")
}
