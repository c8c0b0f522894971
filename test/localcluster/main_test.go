package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/test/localcluster/background"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// run runs the command line in a cache directory of its own.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var out bytes.Buffer
	command := newCommand()
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&out)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestBadInputIsOneSentence(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"status", `the local cluster is not up: start it with "up"`},
		{"logs etcd", `the local cluster is not up: start it with "up"`},
		{"up --name A/B", `"A/B" cannot be the name of a cluster`},
		{"status --name ..", `".." cannot be the name of a cluster`},
		{"up --nodes 0", "a cluster has 1 to 26 nodes, not 0"},
		{"up --image x=/does/not/exist", "the image x is to be /does/not/exist, and that is no program"},
		{"fly", `unknown command "fly"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			g := NewWithT(t)
			_, err := run(t, strings.Fields(test.args)...)
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestDownWithoutClusterIsNoError(t *testing.T) {
	g := NewWithT(t)
	out, err := run(t, "down")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(Equal("The local cluster is not up.\n"))
}

func TestStatusFits80Columns(t *testing.T) {
	g := NewWithT(t)
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	writeStatus(&out, background.State{
		PID: 4194303, Kubeconfig: "/k", Started: started,
		Processes: []localcluster.ProcessStatus{
			{Name: "kube-controller-manager", Version: "v1.37.2", PID: 4194304, Running: true, Log: "/l"},
			{Name: "node-1", Version: "v1.37.2", Running: true},
			{Name: "leasewarden"},
		},
	}, started.Add(90*time.Second))
	for line := range strings.Lines(out.String()) {
		g.Expect(len(line)).To(BeNumerically("<=", 81), line)
	}
	g.Expect(out.String()).To(ContainSubstring("kube-controller-manager  v1.37.2  4194304  running  logs kube-controller-manager\n"))
	g.Expect(out.String()).To(ContainSubstring("up 1m30s, held by PID 4194303\n"))
}
