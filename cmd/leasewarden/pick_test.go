package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/inventory"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/report"
)

var pickTime = time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC)

// pick runs the command in this process.
func pick(stdin string, args ...string) (stdout, stderr string, err error) {
	c := newPickCommand(clocktesting.NewFakePassiveClock(pickTime))
	c.SilenceUsage, c.SilenceErrors = true, true
	var out, errs bytes.Buffer
	c.SetIn(strings.NewReader(stdin))
	c.SetOut(&out)
	c.SetErr(&errs)
	c.SetArgs(args)
	err = c.Execute()
	return out.String(), errs.String(), err
}

func TestPickTakesTheTimeOfTheClock(t *testing.T) {
	args := []string{"-f", "testdata/pick/cluster-autoscaler.yaml"}
	byClock, _, err := pick("", args...)
	if err != nil {
		t.Fatal(err)
	}
	byFlag, _, err := pick("", append(args, "--now", "2026-01-31T16:04:05+01:00")...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(byClock, byFlag); diff != "" {
		t.Errorf("by the clock and by the flag (-clock +flag):\n%s", diff)
	}
}

func TestPickWarnsOfFindings(t *testing.T) {
	input, err := os.ReadFile("testdata/pick/mixed-sources.yaml")
	if err != nil {
		t.Fatal(err)
	}
	annotated := strings.Replace(string(input), "  name: volume-controller-0\n", "  name: volume-controller-0\n  annotations: {leasewarden.dev/priority: high}\n", 1)
	_, stderr, err := pick(annotated, "-f", "-")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stderr, "warning: Lease storage/volume-controller: candidate volume-controller-0: ") {
		t.Errorf("standard error is %q", stderr)
	}
}

func TestPickAsksTheCluster(t *testing.T) {
	scheme, err := inventory.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	policy := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "p"}}
	policy.Spec.Leases.Names = []string{"app"}
	policy.Spec.Strategy.Name = v1alpha1.Sticky
	policy.Spec.Candidates.Pods = &v1alpha1.PodCandidates{Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}
	invalid := policy.DeepCopy()
	invalid.Name, invalid.Spec.Strategy.Name = "q", "Loudest"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "app-0", Labels: map[string]string{"app": "a"}}}
	pod.Status.Phase = corev1.PodRunning
	reader := listOnly{fake.NewClientBuilder().WithScheme(scheme).WithObjects(policy, invalid, pod).Build()}

	c := newPickCommand(clocktesting.NewFakePassiveClock(pickTime))
	c.SetContext(t.Context())
	var stderr bytes.Buffer
	c.SetErr(&stderr)
	input, err := readInventory(c, reader, "apps")
	if err != nil {
		t.Fatal(err)
	}
	leases, err := input.leases("")
	if err != nil {
		t.Fatal(err)
	}
	elections := input.decide(leases, pickTime)
	if len(elections) != 1 || elections[0].Chosen == nil || *elections[0].Chosen != "app-0" {
		t.Errorf("elections are %+v", elections)
	}
	if !strings.HasPrefix(stderr.String(), "warning: ElectionPolicy apps/q governs nothing: spec.strategy.name: ") {
		t.Errorf("standard error is %q", stderr.String())
	}
	if _, err := readInventory(c, reader, "other"); err == nil || !strings.HasPrefix(err.Error(), "no policy for namespace other: ") {
		t.Errorf("without a policy: %v", err)
	}
}

func TestStyleFor(t *testing.T) {
	if got := styleFor(&bytes.Buffer{}); got != (report.Style{}) {
		t.Errorf("for a file: %+v", got)
	}
	terminal, err := os.Open("/dev/ptmx")
	if err != nil {
		t.Skip("no terminal to be had: ", err)
	}
	defer terminal.Close()
	for name, test := range map[string]struct {
		noColor, term string
		want          bool
	}{
		"a terminal":      {"", "xterm", true},
		"NO_COLOR":        {"1", "xterm", false},
		"a dumb terminal": {"", "dumb", false},
	} {
		t.Setenv("NO_COLOR", test.noColor)
		t.Setenv("TERM", test.term)
		if got := styleFor(terminal).Color; got != test.want {
			t.Errorf("%s: colour is %v", name, got)
		}
	}
}

// FuzzPick: whatever is given, there is a decision or an error with one of the
// exit statuses that scripts know, and never a panic.
func FuzzPick(f *testing.F) {
	files, err := filepath.Glob("testdata/pick/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		seed, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(seed))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range pickOutputs {
			_, _, err := pick(text, "-f", "-", "-o", format)
			if status := exitStatus(err); status != 0 && status != exitUnusable && status != exitNoCandidate {
				t.Errorf("exit status %d: %v", status, err)
			}
		}
	})
}
