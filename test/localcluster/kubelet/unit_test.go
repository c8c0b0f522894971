package kubelet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestBackOffIsThatOfTheKubelet(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var b backOff
	g.Expect(b.wait(now, now)).To(BeZero(), "the first restart is immediate")
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		b.restarted(now, now)
		now = now.Add(time.Second)
		g.Expect(b.wait(now, now)).To(Equal(want * time.Second))
		g.Expect(b.wait(now, now.Add(want*time.Second))).To(BeZero())
	}
	b.restarted(now, now)
	now = now.Add(10*time.Minute + time.Second)
	g.Expect(b.wait(now, now)).To(BeZero(), "it had run long enough")
	b.restarted(now, now)
	g.Expect(b.wait(now, now)).To(Equal(10 * time.Second))
}

func TestExpand(t *testing.T) {
	g := NewWithT(t)
	values := map[string]string{"A": "1", "B": ""}
	get := func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	for in, want := range map[string]string{
		"":                "",
		"plain":           "plain",
		"$(A)":            "1",
		"x$(A)y$(B)z":     "x1yz",
		"$(UNKNOWN)":      "$(UNKNOWN)",
		"$$(A)":           "$(A)",
		"$$$(A)":          "$1",
		"$A $ $":          "$A $ $",
		"$(A":             "$(A",
		"--a=$(A),b=$(B)": "--a=1,b=",
	} {
		g.Expect(expand(in, get)).To(Equal(want), in)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("$(A)$$(B)$")
	f.Fuzz(func(t *testing.T, s string) {
		expand(s, func(string) (string, bool) { return "value", true })
	})
}

func TestVolumeFilesChangeAllAtOnce(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "volume")
	g.Expect(writeAtomically(dir, map[string]string{"tls.crt": "1", "tls.key": "1", "sub/x": "1"})).To(Succeed())
	first, err := os.Readlink(filepath.Join(dir, dataLink))
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(writeAtomically(dir, map[string]string{"tls.crt": "1", "tls.key": "1", "sub/x": "1"})).To(Succeed())
	g.Expect(os.Readlink(filepath.Join(dir, dataLink))).To(Equal(first), "nothing has changed")

	g.Expect(writeAtomically(dir, map[string]string{"tls.crt": "2", "tls.key": "2"})).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(dir, "tls.crt"))).To(BeEquivalentTo("2"))
	g.Expect(filepath.Join(dir, "sub")).NotTo(BeAnExistingFile())
	g.Expect(filepath.Join(dir, first)).NotTo(BeAnExistingFile())

	for _, name := range []string{"../x", "/etc/passwd", "..data/x"} {
		g.Expect(writeAtomically(dir, map[string]string{name: ""})).To(MatchError(ContainSubstring("leads out of the volume")))
	}
}

func TestSeekTail(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "log")
	g.Expect(os.WriteFile(path, []byte("a\nb\nc\n"), 0o644)).To(Succeed())
	for n, want := range map[int]string{1: "c\n", 2: "b\nc\n", 3: "a\nb\nc\n", 9: "a\nb\nc\n"} {
		file, err := os.Open(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seekTail(file, n)).To(Succeed())
		rest := make([]byte, 100)
		read, _ := file.Read(rest)
		g.Expect(string(rest[:read])).To(Equal(want))
		file.Close()
	}
}
