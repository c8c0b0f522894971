package smoke

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// module is the directory of the local cluster's module, in which the program is
// run.
var module = filepath.Join("..", "..")

func TestSoakOfAMinute(t *testing.T) {
	g := NewWithT(t)
	builder, err := binaries.New("", os.Stderr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(localcluster.Build(t.Context(), builder)).To(Succeed())
	program, err := builder.Package(t.Context(), module, "./soak")
	g.Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(t.TempDir(), "report.json")
	var out bytes.Buffer
	soak := exec.CommandContext(t.Context(), program, "--seed=1", "--duration=1m", "--json="+path,
		"--faults=leader killed,leasewarden: both killed,etcd: killed")
	soak.Dir = module
	// At the end of the test it is interrupted, and ends its cluster.
	soak.Cancel = func() error { return soak.Process.Signal(os.Interrupt) }
	soak.Stdout = io.MultiWriter(os.Stderr, &out)
	soak.Stderr = soak.Stdout
	g.Expect(soak.Run()).To(Succeed(), "it finds nothing")

	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	var report struct {
		Faults []struct {
			Fault string
			Times int
		}
		Leases []struct {
			Lease string
			Terms int
		}
		Rulings int
	}
	g.Expect(json.Unmarshal(content, &report)).To(Succeed())
	g.Expect(report.Faults).NotTo(BeEmpty())
	for _, f := range report.Faults {
		g.Expect(out.String()).To(ContainSubstring("\n" + f.Fault + strings.Repeat(" ", 2)))
		g.Expect(f.Times).To(BeNumerically(">", 0))
	}
	g.Expect(report.Leases).To(HaveLen(5))
	for _, l := range report.Leases {
		g.Expect(l.Terms).To(BeNumerically(">", 0), "somebody led %s, by its own word", l.Lease)
	}
	g.Expect(report.Rulings).To(BeNumerically(">", 50))
}
