package kubelet

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// What happens to a process shows at the next look, once a second, and no
// earlier: a failover here must not look faster than on a real node.
func TestContainerStatusChangesOnlyWhenLookedAt(t *testing.T) {
	g := NewWithT(t)
	builder, err := binaries.New("", nil)
	g.Expect(err).NotTo(HaveOccurred())
	launcher, err := builder.Source(context.Background(), "leasewarden-launcher", process.LauncherSource())
	g.Expect(err).NotTo(HaveOccurred())
	spec := process.Spec{Name: "main", Path: "/bin/sh", Args: []string{"-c", "read line; exit 3"}, Env: []string{}}
	// Standard input is empty: it ends at once.
	c := newContainer(corev1.Container{Name: "main"}, t.TempDir())
	g.Expect(c.status().State.Waiting).To(HaveField("Reason", reasonCreating))

	g.Expect(c.start(launcher, spec, time.Now())).To(Succeed())
	g.Eventually(c.process.Done(), "10s").Should(BeClosed())
	g.Expect(c.status().State.Waiting).NotTo(BeNil(), "the end has not been seen")
	c.look()
	g.Expect(c.status().State.Terminated).To(HaveField("ExitCode", BeEquivalentTo(3)))
	first := c.status().ContainerID

	g.Expect(c.start(launcher, spec, time.Now())).To(Succeed())
	g.Expect(c.status()).To(And(
		HaveField("ContainerID", first),
		HaveField("RestartCount", BeEquivalentTo(0)),
		HaveField("State.Terminated", Not(BeNil())),
	), "the restart has not been seen")
	g.Eventually(c.process.Done(), "10s").Should(BeClosed())
	c.look()
	g.Expect(c.status()).To(And(
		HaveField("ContainerID", Not(Equal(first))),
		HaveField("RestartCount", BeEquivalentTo(1)),
		HaveField("LastTerminationState.Terminated.ContainerID", first),
	))
}
