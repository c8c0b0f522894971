package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

var launcher string

func TestMain(m *testing.M) {
	builder, err := binaries.New("", os.Stderr)
	if err == nil {
		launcher, err = builder.Source(context.Background(), "leasewarden-launcher", process.LauncherSource())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func shell(t *testing.T, script string) process.Spec {
	return process.Spec{
		Name: "script", Path: "/bin/sh", Args: []string{"-c", script},
		Log: filepath.Join(t.TempDir(), "log"), Env: []string{"PATH=/usr/bin:/bin"},
	}
}

func contained(t *testing.T, script string) process.Spec {
	userNamespace, err := process.CheckNamespaces(launcher)
	if err != nil {
		t.Skip(err)
	}
	spec := shell(t, script)
	spec.Container = &process.Container{
		Hostname: "inside", Root: t.TempDir(), Mounts: process.BaseSystem(), UserNamespace: userNamespace,
	}
	return spec
}

func finish(g Gomega, p *process.Process) int {
	g.Eventually(p.Done(), "10s").Should(BeClosed())
	code, ended, ok := p.Exit()
	g.Expect(ok).To(BeTrue())
	g.Expect(ended).To(BeTemporally(">=", p.Started()))
	return code
}

func TestExitCodeAndOutput(t *testing.T) {
	g := NewWithT(t)
	for _, spec := range []process.Spec{shell(t, "echo out; echo err >&2; exit 7"), contained(t, "echo out; echo err >&2; exit 7")} {
		p, err := process.Start(launcher, spec)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(finish(g, p)).To(Equal(7))
		g.Expect(os.ReadFile(spec.Log)).To(BeEquivalentTo("out\nerr\n"))
		g.Expect(p.Signal(syscall.SIGTERM)).To(MatchError(os.ErrProcessDone))
	}
}

func TestContainerHasItsOwnHostnameProcessesAndFiles(t *testing.T) {
	g := NewWithT(t)
	spec := contained(t, `hostname; echo $$; ls -d /proc/[0-9]*; cat /etc/a/b/c; touch /new /tmp/new && echo written; touch /etc/a/b/c 2>/dev/null || echo refused; ls /root 2>/dev/null || echo "no /root"`)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, []byte("content\n"), 0o644)).To(Succeed())
	spec.Container.Mounts = append(spec.Container.Mounts, process.Mount{Source: file, Target: "/etc/a/b/c", ReadOnly: true})
	p, err := process.Start(launcher, spec)
	g.Expect(err).NotTo(HaveOccurred())
	finish(g, p)
	log, err := os.ReadFile(spec.Log)
	g.Expect(err).NotTo(HaveOccurred())
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	g.Expect(lines[:3]).To(Equal([]string{"inside", "1", "/proc/1"}))
	g.Expect(lines[len(lines)-4:]).To(Equal([]string{"content", "written", "refused", "no /root"}))
	g.Expect("/new").NotTo(BeAnExistingFile(), "nothing shows on the host")
	g.Expect("/etc/a").NotTo(BeAnExistingFile())
}

func TestStopTermThenKill(t *testing.T) {
	g := NewWithT(t)
	polite := shell(t, "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done")
	p, err := process.Start(launcher, polite)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() string { b, _ := os.ReadFile(polite.Log); return string(b) }, "10s").Should(Equal("ready\n"))
	p.Stop(time.Minute)
	g.Expect(finish(g, p)).To(Equal(3))

	stubborn := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	p, err = process.Start(launcher, stubborn)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() string { b, _ := os.ReadFile(stubborn.Log); return string(b) }, "10s").Should(Equal("ready\n"))
	p.Stop(50 * time.Millisecond)
	g.Expect(finish(g, p)).To(Equal(137))
}

func TestErrorsNameTheProcessAndTheReason(t *testing.T) {
	g := NewWithT(t)
	missing := shell(t, "")
	missing.Path = "/does/not/exist"
	_, err := process.Start(launcher, missing)
	g.Expect(err).To(MatchError(And(HavePrefix("cannot start script: "), ContainSubstring("/does/not/exist"))))

	missing = contained(t, "")
	missing.Path = "does-not-exist"
	_, err = process.Start(launcher, missing)
	g.Expect(err).To(MatchError(And(HavePrefix("cannot start script: "), ContainSubstring("does-not-exist"))))

	missing = contained(t, "")
	missing.Container.Mounts = append(missing.Container.Mounts, process.Mount{Source: "/does/not/exist", Target: "/x"})
	_, err = process.Start(launcher, missing)
	g.Expect(err).To(MatchError(ContainSubstring("cannot mount on /x")))
}

func TestWithoutNamespacesTheErrorSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	// A launcher that always fails is one that the kernel refuses everything.
	_, err := process.CheckNamespaces("/bin/false")
	g.Expect(errors.Is(err, process.ErrNoNamespaces)).To(BeTrue())
	g.Expect(err).To(MatchError(And(
		ContainSubstring("run as root, or allow unprivileged user namespaces (sysctl user.max_user_namespaces"),
		Not(ContainSubstring("\n")),
	)))
}

func exists(pid int) func() bool {
	return func() bool {
		// A zombie has ended; who reaps it is not our business.
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && !strings.Contains(string(stat), ") Z ")
	}
}

// The launcher's parent is covered by the death of a whole cluster, in package
// localcluster; this is the other half.
func TestProgramEndsWithItsLauncher(t *testing.T) {
	g := NewWithT(t)
	for _, spec := range []process.Spec{shell(t, "sleep 1000"), contained(t, "sleep 1000")} {
		p, err := process.Start(launcher, spec)
		g.Expect(err).NotTo(HaveOccurred())
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		g.Expect(err).NotTo(HaveOccurred())
		_, fields, _ := strings.Cut(string(stat), ") ")
		launcherPID, err := strconv.Atoi(strings.Fields(fields)[1])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(syscall.Kill(launcherPID, syscall.SIGKILL)).To(Succeed())
		g.Eventually(exists(p.PID()), "10s", "10ms").Should(BeFalse())
		g.Expect(finish(g, p)).To(Equal(137))
	}
}

func TestStandInRunsTheProgramAndLeavesItsPID(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	path, pidFile, err := process.StandIn(launcher, dir, "prog", "/bin/sh")
	g.Expect(err).NotTo(HaveOccurred())
	output, err := exec.Command(path, "-c", "echo $$; exit 5").Output()
	g.Expect(err).To(HaveOccurred())
	g.Expect(err.(*exec.ExitError).ExitCode()).To(Equal(5))
	g.Expect(os.ReadFile(pidFile)).To(BeEquivalentTo(strings.TrimSpace(string(output))))
}
