package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// transcripts are the guides whose console blocks other tests run and compare.
var transcripts = []string{"picking.md", "auditing.md", "simulating.md", "by-hand.md"}

// TestEveryCommandInTheGuidesIsRun runs the blocks marked sh, bash or nothing, each
// as one script in a directory with the files that guides name. It must exit with
// 0. A block with a command that another test runs is not run here: each command of
// it has to be in runElsewhere then.
func TestEveryCommandInTheGuidesIsRun(t *testing.T) {
	shop := newWorkshop(t)
	known := declared(t)
	for _, file := range guides(t) {
		for _, b := range blocksOf(t, file) {
			if len(b.commands) == 0 || b.fence == "console" && slices.Contains(transcripts, filepath.Base(file)) {
				continue
			}
			switch {
			case slices.ContainsFunc(b.commands, func(c guideCommand) bool { return elsewhere(c) != "" }):
				checkElsewhere(t, b, known)
			default:
				t.Run(b.commands[0].at, func(t *testing.T) {
					t.Parallel()
					shop.run(t, b)
				})
			}
		}
	}
}

const howToTest = `
%s: no test runs this command:
    %s
If it needs no cluster, it is run here: have it exit with 0 with what
is in files (docs_test.go). If a test runs it already, name that in docs_elsewhere_test.go.
If it is nothing to type, mark the block as text.`

// elsewhere is the test that runs a command, "" if none is known. A target of the
// Makefile is one by itself.
func elsewhere(c guideCommand) string {
	if words := strings.Fields(c.text); words[0] == "make" && len(words) > 1 && runElsewhere[c.text] == "" {
		return "make " + words[1]
	}
	return runElsewhere[c.text]
}

func checkElsewhere(t *testing.T, b guideBlock, known []string) {
	t.Helper()
	for _, c := range b.commands {
		test := elsewhere(c)
		switch {
		case test == "":
			t.Errorf(howToTest, c.at, c.text)
		case !slices.Contains(known, test):
			t.Errorf("%s: %s is said to run %q, and there is no such test or target", c.at, test, c.text)
		}
	}
}

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	makeTarget   = regexp.MustCompile(`(?m)^([a-z-]+(?: [a-z-]+)*):`)
)

// declared are the tests of the repository, and the targets of the Makefile as
// "make TARGET".
func declared(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range testFunction.FindAllSubmatch(source, -1) {
			all = append(all, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range makeTarget.FindAllSubmatch(makefile, -1) {
		for _, target := range strings.Fields(string(m[1])) {
			all = append(all, "make "+target)
		}
	}
	return all
}

// workshop is where the commands of guides are run.
type workshop struct{ stage }

// standIns are programs that guides use beside leasewarden, as far as they do:
// they hand on a file, or pick a key.
var standIns = map[string]string{
	"kubectl": `#!/bin/sh
case "$*" in
"get pods,nodes,leases -n kube-system -o yaml" | "get pods,nodes -n kube-system -o yaml") exec cat cluster.yaml ;;
"leasewarden "*) shift; exec kubectl-leasewarden "$@" ;;
esac
echo "no guide says: kubectl $*" >&2
exit 1
`,
	"ssh": `#!/bin/sh
test "$2" = cat || exit 1
exec cat audit.log
`,
	"jq": `#!/bin/sh
test "$1" = -r || exit 1
exec sed -n "s/^  \"${2#.}\": \"\(.*\)\",\{0,1\}$/\1/p"
`,
}

// newWorkshop has the files that the guides name.
func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	bin := installTestBinary(t)
	for name, script := range standIns {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("leasewarden", filepath.Join(bin, pluginName)); err != nil {
		t.Fatal(err)
	}
	_, kubeconfig := serveElections(t)
	return &workshop{stage{bin: bin, kubeconfig: kubeconfig}}
}

// files are where the files that guides name come from.
var files = map[string]string{
	"policy.yaml":                "testdata/pick/control-plane-policy.yaml",
	"control-plane-policy.yaml":  "testdata/pick/control-plane-policy.yaml",
	"control-plane-upgrade.yaml": "testdata/pick/control-plane-upgrade.yaml",
	"cluster.yaml":               "testdata/pick/control-plane-upgrade.yaml",
	"audit.log":                  "testdata/audit/upgrade-and-crash.log",
}

func (w *workshop) run(t *testing.T, b guideBlock) {
	t.Helper()
	s := w.stage
	s.dir = t.TempDir()
	for name, from := range files {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(s.bin, filepath.Join(s.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	script := "set -e\n"
	for _, c := range b.commands {
		script += c.text + "\n"
	}
	shell := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", script)
	// What a program keeps at home must not outlast the test.
	shell.Dir, shell.Env = s.dir, append(s.environment(), "HOME="+t.TempDir())
	if printed, err := shell.CombinedOutput(); err != nil {
		for _, c := range b.commands {
			t.Errorf(howToTest, c.at, c.text)
		}
		t.Errorf("%v:\n%s", err, printed)
	}
}
