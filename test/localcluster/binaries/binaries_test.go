package binaries

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	. "github.com/onsi/gomega"
)

func hello(text string) fstest.MapFS {
	return fstest.MapFS{"main.go": {Data: []byte("package main\n\nfunc main() { println(" + text + ") }\n")}}
}

func TestSourceIsBuiltOnceByConcurrentBuilders(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	paths := make([]string, 4)
	var builders sync.WaitGroup
	for i := range paths {
		builders.Go(func() {
			// As separate processes would: nothing shared but the directory.
			b, err := New(dir, nil)
			g.Expect(err).NotTo(HaveOccurred())
			paths[i], err = b.Source(context.Background(), "hello", hello(`"hello"`))
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
	builders.Wait()
	for _, path := range paths {
		g.Expect(path).To(Equal(paths[0]))
	}
	output, err := exec.Command(paths[0]).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(output)).To(Equal("hello\n"))
	leftovers, err := filepath.Glob(paths[0] + ".*")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(leftovers).To(BeEmpty())
}

func TestFailedBuildIsOneSentenceThatNamesTheReasonAndTheLog(t *testing.T) {
	g := NewWithT(t)
	b, err := New(t.TempDir(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = b.Source(context.Background(), "broken", hello("undefinedName"))
	g.Expect(err).To(MatchError(And(
		ContainSubstring("cannot build broken"),
		ContainSubstring("undefined: undefinedName"),
		Not(ContainSubstring("\n")),
	)))
	_, log, _ := strings.Cut(err.Error(), "the whole output is in ")
	g.Expect(strings.TrimSuffix(log, ")")).To(BeARegularFile())
}

func TestWithoutGoTheErrorSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	b, err := New(t.TempDir(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	b.goCommand = "a-go-command-that-is-not-there"
	_, err = b.Components(context.Background(), Component{Name: "etcd", Version: DefaultEtcd})
	g.Expect(errors.Is(err, ErrNoGo)).To(BeTrue())
	g.Expect(err).To(MatchError("cannot build etcd v3.7.3: no go command on the PATH: " +
		"install Go 1.26 or later, or add its bin directory to the PATH"))
}

func TestWhatIsBuiltNeedsNoGo(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	b, err := New(dir, nil)
	g.Expect(err).NotTo(HaveOccurred())
	b.goCommand = "a-go-command-that-is-not-there"
	c := Component{Name: "kube-scheduler", Version: "1.36.3"}
	where, err := c.directory()
	g.Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(dir, "bin", where, c.Name)
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, nil, 0o755)).To(Succeed())
	g.Expect(b.Components(context.Background(), c)).To(Equal([]string{path}))
}

func TestUnknownReleaseListsTheKnownOnes(t *testing.T) {
	g := NewWithT(t)
	b, err := New(t.TempDir(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = b.Components(context.Background(), Component{Name: "kube-scheduler", Version: "1.2.3"})
	g.Expect(err).To(MatchError(And(
		ContainSubstring("no build of kube-scheduler v1.2.3 is known"),
		ContainSubstring("kube-scheduler v1.36.3"), ContainSubstring("kube-apiserver v1.37.2"), ContainSubstring("etcd v3.7.3"),
	)))
}

func TestInterruptedBuildLeavesNothingThatLooksFinished(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	b, err := New(dir, nil)
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = b.Source(ctx, "hello", hello(`"hello"`))
	g.Expect(err).To(MatchError(context.Canceled))
	built, err := filepath.Glob(filepath.Join(dir, "bin", "*", "hello*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(built).To(BeEmpty())
}

func TestProgressSaysWhatAndHowLong(t *testing.T) {
	g := NewWithT(t)
	var out lockedBuffer
	p := newProgress(&out, time.Millisecond, "building x (1 of 2)")
	g.Eventually(out.String).Should(ContainSubstring("building x (1 of 2), 0s ...\n"))
	p.stop()
	g.Expect(out.String()).To(HaveSuffix("building x (1 of 2), 0s\n"))

	var quiet lockedBuffer
	newProgress(&quiet, time.Hour, "building y").stop()
	g.Expect(quiet.String()).To(BeEmpty(), "what is quick is not worth a line")
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
