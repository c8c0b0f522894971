package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// TestByHandTranscripts runs the commands in testdata and in the guide.
func TestByHandTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/byhand/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	bin := installTestBinary(t)
	for _, file := range append(files, "../../docs/by-hand.md") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			_, kubeconfig := serveElections(t)
			with := stage{bin: bin, dir: "testdata/byhand", kubeconfig: kubeconfig}
			with.check(t, file)
		})
	}
}

// byHand runs a command in this process.
func byHand(t *testing.T, kubeconfig string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	t.Setenv("KUBECONFIG", kubeconfig)
	c := newCommand(newStepClock(pickTime))
	var out, errs bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&errs)
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

var scheduler = types.NamespacedName{Namespace: "kube-system", Name: "kube-scheduler"}

// What cannot be done is refused, with the reason, and nothing is written.
func TestByHandRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		args   string
		change func(*v1alpha1.Election)
		want   string
	}{
		"no Lease":              {args: "switchover", want: "LEASE is missing"},
		"no target":             {args: "switchover kube-scheduler", want: "--to is missing"},
		"too many arguments":    {args: "pin kube-scheduler a b", want: `unexpected argument "b"`},
		"not a Lease":           {args: "pause a/b/c", want: `"a/b/c" is not a Lease: give NAME or NAMESPACE/NAME`},
		"two namespaces":        {args: "pause -n other kube-system/kube-scheduler", want: "is not in the namespace other"},
		"an unknown flag":       {args: "pin --so a b", want: "unknown flag: --so"},
		"an unknown Lease":      {args: "switchover nothing --to a", want: "nothing is known of Lease kube-system/nothing"},
		"not governed":          {args: "pin kube-scheduler a", change: func(e *v1alpha1.Election) { e.Status = v1alpha1.ElectionStatus{} }, want: "nothing is known of Lease"},
		"a stranger":            {args: "switchover kube-scheduler --to cp-9", want: "cp-9 is not a candidate for kube-system/kube-scheduler: there are kube-scheduler-cp-1, kube-scheduler-cp-2, kube-scheduler-cp-3"},
		"one that may not":      {args: "switchover kube-scheduler --to kube-scheduler-cp-3", want: "kube-scheduler-cp-3 may not lead kube-system/kube-scheduler now: Available: Pod is terminating"},
		"nobody to choose from": {args: "pin kube-scheduler a", change: func(e *v1alpha1.Election) { e.Status.Candidates, e.Status.Eligible = nil, "0/0" }, want: "there is none; --force pins all the same"},
		"a pin on a stranger":   {args: "pin kube-scheduler cp-9", want: "--force pins all the same"},
		"dry run": {args: "switchover kube-scheduler --to kube-scheduler-cp-2", change: func(e *v1alpha1.Election) { e.Status.Mode = v1alpha1.DryRun },
			want: "is in mode DryRun, which moves nothing"},
		"paused": {args: "switchover kube-scheduler --to kube-scheduler-cp-2", change: func(e *v1alpha1.Election) { e.Spec.Paused = true },
			want: `resume it first with "leasewarden resume kube-system/kube-scheduler"`},
		"pinned": {args: "switchover kube-scheduler --to kube-scheduler-cp-2", change: func(e *v1alpha1.Election) { e.Spec.Pin = "kube-scheduler-cp-1" },
			want: "is pinned to kube-scheduler-cp-1: unpin it first"},
		"a time that is none": {args: "switchover kube-scheduler --to a --at noon", want: `--at: "noon" is not a time such as`},
		"a time that is over": {args: "switchover kube-scheduler --to a --at 2026-01-31T15:04:05Z", want: "--at: 2026-01-31T15:04:05Z is over"},
		"a timeout":           {args: "switchover kube-scheduler --to a --timeout 2h", want: "--timeout: 2h0m0s is not from 1s to 1h"},
		"-A and a Lease":      {args: "status -A kube-scheduler", want: "leave it out, or the name of the Lease"},
		"--watch and -o":      {args: "status --watch -o json", want: "--watch shows tables only"},
		"a negative past":     {args: "history kube-scheduler --since -1s", want: "--since: give a duration"},
	} {
		t.Run(name, func(t *testing.T) {
			api, kubeconfig := serveElections(t)
			if test.change != nil {
				test.change(api.elections[scheduler])
			}
			_, _, err := byHand(t, kubeconfig, strings.Fields(test.args)...)
			if exitStatus(err) != exitUnusable || !strings.Contains(err.Error(), test.want) {
				t.Errorf("exit status %d: %v; want %q", exitStatus(err), err, test.want)
			}
			if len(api.patches) > 0 {
				t.Errorf("wrote %q", api.patches)
			}
		})
	}
}

// Only the field that a command is about is written.
func TestByHandWrites(t *testing.T) {
	for name, test := range map[string]struct {
		args   string
		change func(*v1alpha1.Election)
		stdout string
		patch  string
	}{
		"switchover": {args: "switchover kube-scheduler --to kube-scheduler-cp-2 --timeout 30s",
			patch: `{"spec":{"switchover":{"at":null,"timeout":"30s","to":"kube-scheduler-cp-2"}}}`},
		"switchover at a time": {args: "switchover kube-system/kube-scheduler --to kube-scheduler-cp-2 --at 2026-02-01T03:00:00+01:00",
			stdout: "moves to kube-scheduler-cp-2 at 2026-02-01T02:00:00Z",
			patch:  `{"spec":{"switchover":{"at":"2026-02-01T02:00:00Z","timeout":"2m0s","to":"kube-scheduler-cp-2"}}}`},
		"switchover to the holder": {args: "switchover kube-scheduler --to kube-scheduler-cp-1", stdout: "leads kube-system/kube-scheduler already: there is nothing to do"},
		"pin":                      {args: "pin kube-scheduler kube-scheduler-cp-2", stdout: "kube-scheduler-cp-1, which holds it, is made to step down", patch: `{"spec":{"pin":"kube-scheduler-cp-2"}}`},
		"pin the holder":           {args: "pin kube-scheduler kube-scheduler-cp-1", stdout: "is pinned to kube-scheduler-cp-1, which holds it", patch: `{"spec":{"pin":"kube-scheduler-cp-1"}}`},
		"pin by force":             {args: "pin kube-scheduler cp-9 --force", patch: `{"spec":{"pin":"cp-9"}}`},
		"pin again": {args: "pin kube-scheduler kube-scheduler-cp-2", change: func(e *v1alpha1.Election) { e.Spec.Pin = "kube-scheduler-cp-2" },
			stdout: "is pinned to kube-scheduler-cp-2 already"},
		"pin elsewhere": {args: "pin kube-scheduler kube-scheduler-cp-2", change: func(e *v1alpha1.Election) { e.Spec.Pin = "kube-scheduler-cp-1" },
			stdout: "instead of kube-scheduler-cp-1", patch: `{"spec":{"pin":"kube-scheduler-cp-2"}}`},
		"unpin":         {args: "unpin kube-scheduler", change: func(e *v1alpha1.Election) { e.Spec.Pin = "a" }, stdout: "is not pinned to a any more", patch: `{"spec":{"pin":null}}`},
		"unpin nothing": {args: "unpin kube-scheduler", stdout: "is not pinned: there is nothing to do"},
		"pause":         {args: "pause kube-scheduler", stdout: "is paused: any candidate may acquire it", patch: `{"spec":{"paused":true}}`},
		"pause early":   {args: "pause nothing", stdout: "No policy governs it now"},
		"resume":        {args: "resume kube-scheduler", change: func(e *v1alpha1.Election) { e.Spec.Paused = true }, stdout: "goes on", patch: `{"spec":{"paused":null}}`},
		"resume again":  {args: "resume kube-scheduler", stdout: "is not paused: there is nothing to do"},
	} {
		t.Run(name, func(t *testing.T) {
			api, kubeconfig := serveElections(t)
			if test.change != nil {
				test.change(api.elections[scheduler])
			}
			stdout, _, err := byHand(t, kubeconfig, strings.Fields(test.args)...)
			if err != nil || !strings.Contains(stdout, test.stdout) {
				t.Errorf("printed %q, %v; want %q", stdout, err, test.stdout)
			}
			if diff := cmp.Diff(test.patch, strings.Join(api.patches, " ")); diff != "" {
				t.Errorf("wrote (-want +got):\n%s", diff)
			}
			if early := api.elections[types.NamespacedName{Namespace: "kube-system", Name: "nothing"}]; name == "pause early" && (early == nil || !early.Spec.Paused) {
				t.Errorf("created %+v", early)
			}
		})
	}
}

// However a switchover ends, whoever waits is told.
func TestSwitchoverWaits(t *testing.T) {
	answer := func(state v1alpha1.SwitchoverState, to, message string) func(*v1alpha1.Election, int) {
		return func(e *v1alpha1.Election, reads int) {
			if reads > 2 {
				e.Status.Switchover = &v1alpha1.SwitchoverStatus{To: to, State: state, Message: message, ObservedGeneration: e.Generation}
			}
		}
	}
	for name, test := range map[string]struct {
		controller func(*v1alpha1.Election, int)
		want       string
	}{
		"it fails":     {answer(v1alpha1.SwitchoverFailed, "kube-scheduler-cp-2", "not done within 5s"), "failed: not done within 5s (held by kube-scheduler-cp-1)"},
		"it is lost":   {answer(v1alpha1.SwitchoverInProgress, "kube-scheduler-cp-3", "waiting"), "was replaced by one to kube-scheduler-cp-3"},
		"nobody works": {func(*v1alpha1.Election, int) {}, "Leasewarden did not say in time"},
		"it hangs":     {answer(v1alpha1.SwitchoverInProgress, "kube-scheduler-cp-2", "waiting"), "Leasewarden did not say in time"},
		// An answer to an earlier request is none to this one.
		"an old answer": {func(e *v1alpha1.Election, _ int) {
			e.Status.Switchover = &v1alpha1.SwitchoverStatus{To: "kube-scheduler-cp-2", State: v1alpha1.SwitchoverDone, ObservedGeneration: e.Generation - 1}
		}, "Leasewarden did not say in time"},
	} {
		t.Run(name, func(t *testing.T) {
			api, kubeconfig := serveElections(t)
			api.controller = test.controller
			_, stderr, err := byHand(t, kubeconfig, "switchover", "kube-scheduler", "--to", "kube-scheduler-cp-2", "--timeout", "5s", "--wait")
			if exitStatus(err) != exitFailed || !strings.Contains(err.Error(), test.want) {
				t.Errorf("exit status %d: %v; want %q", exitStatus(err), err, test.want)
			}
			if !strings.Contains(stderr, "0s  waiting for Leasewarden to take it up\n") {
				t.Errorf("the progress is %q", stderr)
			}
		})
	}
}

// The API server may restart while somebody waits.
func TestSwitchoverWaitsThroughAnOutage(t *testing.T) {
	api, kubeconfig := serveElections(t)
	key := scheduler
	gone := api.elections[key]
	api.controller = func(e *v1alpha1.Election, reads int) {
		obey(e, reads)
		if reads == 1 && e.Spec.Switchover != nil {
			gone = e
			delete(api.elections, key)
			time.AfterFunc(50*time.Millisecond, func() {
				api.mu.Lock()
				defer api.mu.Unlock()
				api.elections[key] = gone
			})
		}
	}
	stdout, stderr, err := byHand(t, kubeconfig, "switchover", "kube-scheduler", "--to", "kube-scheduler-cp-2", "--timeout", "1h", "--wait")
	if err != nil || !strings.Contains(stdout, "kube-scheduler-cp-2 leads kube-system/kube-scheduler") || !strings.Contains(stderr, "trying again: ") {
		t.Errorf("%v\n%s\n%s", err, stdout, stderr)
	}
	// A line that stays is said every 10 s.
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	took, err := time.ParseDuration(strings.Fields(lines[len(lines)-1])[0])
	if n := strings.Count(stderr, "trying again: "); err != nil || n > 1+int(took/(10*time.Second)) {
		t.Errorf("said %d times in %s that it cannot read (%v):\n%.1000s", n, took, err, stderr)
	}
}

// Without the CRDs there is nothing to wait for.
func TestSwitchoverDoesNotWaitForCRDsThatAreGone(t *testing.T) {
	api, kubeconfig := serveElections(t)
	api.controller = func(e *v1alpha1.Election, reads int) {
		api.unserved = e.Spec.Switchover != nil && reads == 1
	}
	_, stderr, err := byHand(t, kubeconfig, "switchover", "kube-scheduler", "--to", "kube-scheduler-cp-2", "--timeout", "1h", "--wait")
	if exitStatus(err) != exitFailed || !strings.Contains(err.Error(), "the CRDs of Leasewarden are gone") {
		t.Errorf("exit status %d: %v", exitStatus(err), err)
	}
	if n := strings.Count(stderr, "trying again: "); n < 1 || n > 2 {
		t.Errorf("the progress is %q", stderr)
	}
}

func TestStatusEncodesElections(t *testing.T) {
	_, kubeconfig := serveElections(t)
	stdout, _, err := byHand(t, kubeconfig, "status", "kube-scheduler", "-o", "yaml")
	if err != nil || !strings.Contains(stdout, "kind: Election\n") || !strings.Contains(stdout, "  chosen: kube-scheduler-cp-1\n") {
		t.Errorf("%v: %s", err, stdout)
	}
	if stdout, _, err = byHand(t, kubeconfig, "status", "-A", "-o", "json"); err != nil || strings.Count(stdout, `"kind": "Election"`) != 3 {
		t.Errorf("%v: %s", err, stdout)
	}
	if stdout, _, err = byHand(t, kubeconfig, "status", "-n", "none"); err != nil || !strings.HasPrefix(stdout, "No Lease is governed in namespace none") {
		t.Errorf("%v: %s", err, stdout)
	}
}

// Off a terminal, what is watched is shown again when it is new, and only then.
func TestStatusWatches(t *testing.T) {
	api, kubeconfig := serveElections(t)
	ctx, cancel := context.WithCancel(t.Context())
	api.controller = func(e *v1alpha1.Election, reads int) {
		e.ResourceVersion = "1"
		if reads >= 3 {
			e.ResourceVersion = "2"
			lead(e, "kube-scheduler-cp-2")
		}
		if reads == 6 {
			cancel()
		}
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	c := newCommand(newStepClock(pickTime))
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs([]string{"status", "kube-scheduler", "--watch"})
	if err := c.ExecuteContext(ctx); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "Lease kube-system/kube-scheduler, held by"); n != 2 || !strings.Contains(out.String(), "held by kube-scheduler-cp-2") {
		t.Errorf("shown %d times:\n%s", n, out.String())
	}
}

func TestNoCluster(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	_, _, err := byHand(t, filepath.Join(t.TempDir(), "none"), "status")
	if exitStatus(err) != exitUnusable || !strings.Contains(err.Error(), "no cluster: give one with --kubeconfig") {
		t.Errorf("exit status %d: %v", exitStatus(err), err)
	}
}
