package behaviour

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestPolicyEditedLiveChangesTheNextDecision(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	policy := c.govern(byVersion, patient)
	c.elect("older", older, "node-1")
	c.leads("older")
	c.elect("newer", newer, "node-2")
	c.ruled("newer_x", chosen("older", byEmulationVersion))

	c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.Strategy.Name = v1alpha1.NewestVersion })
	c.ruled("older_x", chosen("newer", "NewestBinaryVersion"))
	c.ruled("newer_x", Equal(allowed))
	g.Expect(c.holder()).To(Equal("older"), "the term is not cut short")
	_, err := cluster.KillContainer(c.namespace, "older", container)
	g.Expect(err).NotTo(HaveOccurred())
	c.leads("newer")
}

// host-a is chosen and never tries. Whether host-b may lead in its place
// depends on the mode alone.
func TestModeChangesLive(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	policy := c.govern(byVersion, patient, withoutPods)
	c.register("host-a", older)
	c.register("host-b", newer)
	c.ruled("host-b_x", chosen("host-a", byEmulationVersion))
	b := c.compete("host-b_1")
	c.awaitRefusal(b, "host-a is chosen")

	c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.Mode = v1alpha1.DryRun })
	c.leads("host-b")
	g.Expect(c.held().Annotations).To(BeEmpty(), "a dry run stamps nothing")

	c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.Mode = v1alpha1.Enforce })
	c.ruled("host-b_x", chosen("host-a", byEmulationVersion))
	c.awaitRenewals(3) // which nobody rules on
	g.Expect(c.holder()).To(Equal("host-b"))
	b.kill()
	again := c.compete("host-b_2")
	c.awaitRefusal(again, "host-a is chosen")
}
