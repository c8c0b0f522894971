package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// callAs runs this test binary as the command under a name, as the symbolic links
// of "make build" do.
func callAs(t *testing.T, name, kubeconfig string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, args...)
	command.Env = append(os.Environ(), asMain+"=1", "KUBECONFIG="+kubeconfig, "HOME=/nonexistent")
	out, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestCompletion(t *testing.T) {
	_, kubeconfig := serveElections(t)
	const order = ":36\nCompletion ended with directive: ShellCompDirectiveNoFileComp, ShellCompDirectiveKeepOrder\n"
	const end = ":4\nCompletion ended with directive: ShellCompDirectiveNoFileComp\n"
	for name, test := range map[string]struct{ args, want string }{
		"a Lease":                  {"status |", "apps/report-builder\theld by report-builder-7d4f9c6b5d-x2x4z\nkube-controller-manager\theld by kube-controller-manager-cp-2\nkube-scheduler\theld by kube-scheduler-cp-1\n" + end},
		"with its namespace":       {"pause kube-system/kube-s|", "kube-system/kube-scheduler\theld by kube-scheduler-cp-1\n" + end},
		"of a namespace":           {"unpin -n apps |", "report-builder\theld by report-builder-7d4f9c6b5d-x2x4z\n" + end},
		"no second Lease":          {"history kube-scheduler |", end},
		"a candidate":              {"switchover kube-scheduler --to |", "kube-scheduler-cp-1\tv1.36.3 on cp-1, leads\nkube-scheduler-cp-2\tv1.37.2 on cp-2\n" + order},
		"where to pin":             {"pin kube-scheduler kube-scheduler-cp-2|", "kube-scheduler-cp-2\tv1.37.2 on cp-2\n" + order},
		"of a Lease that is not":   {"pin nothing |", end},
		"a namespace":              {"resume -n k|", "kube-system\t2 governed\n" + end},
		"a context":                {"doctor --context |", "c\n" + end},
		"a format":                 {"status -o |", "table\njson\nyaml\n" + end},
		"a candidate of no Lease":  {"switchover --to |", end},
		"nothing without a server": {"status --context nowhere |", end},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := strings.Split(strings.TrimSuffix(test.args, "|"), " ")
			got := callAs(t, "leasewarden", kubeconfig, append([]string{"__complete"}, words...)...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKubectlIsToldTheSame(t *testing.T) {
	_, kubeconfig := serveElections(t)
	words := []string{"unpin", "-n", "apps", ""}
	want := callAs(t, "leasewarden", kubeconfig, append([]string{"__complete"}, words...)...)
	if got := callAs(t, completionName, kubeconfig, words...); got != want || !strings.HasPrefix(got, "report-builder\t") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryShellCompletes(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := callAs(t, "leasewarden", "/nonexistent", "completion", shell); !strings.Contains(out, "leasewarden") || !strings.Contains(out, "__complete") {
			t.Errorf("%s: %s", shell, out)
		}
	}
}

func TestPluginIsCalledAsItIs(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--help", "kubectl leasewarden [command]"},
		{"pin --help", "kubectl leasewarden pin LEASE CANDIDATE"},
		{"pin", "LEASE is missing: kubectl leasewarden pin LEASE CANDIDATE"},
		{"version", "leasewarden "},
	} {
		out := callAs(t, pluginName, "/nonexistent", strings.Fields(test.args)...)
		if !strings.Contains(out, test.want) {
			t.Errorf("%q is not in:\n%s", test.want, out)
		}
		if strings.Contains(out, "completion ") && test.args == "--help" {
			t.Errorf("the plugin offers what kubectl does:\n%s", out)
		}
	}
}
