package behaviour

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// stamps are what the acquire of the present holder is stamped with.
func (c *contest) stamps(strategy v1alpha1.StrategyName, criterion string) map[string]string {
	return map[string]string{
		v1alpha1.ElectedAnnotation:   *c.held().Spec.HolderIdentity,
		v1alpha1.ElectedByAnnotation: "ElectionPolicy " + c.namespace + "/policy",
		v1alpha1.StrategyAnnotation:  string(strategy),
		v1alpha1.CriterionAnnotation: criterion,
	}
}

// kube-scheduler of both releases keeps what its acquire was stamped with, and
// the next acquire is stamped anew.
func TestStampsSurviveTheRenewalsOfComponents(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, brisk)
	c.govern(byVersion, patient)
	c.idle("other", newer, "node-1")
	c.run("older", older, "node-1")
	c.leads("older")
	stamps := c.stamps(v1alpha1.OldestEmulationVersion, byEmulationVersion)
	g.Expect(c.held().Annotations).To(Equal(stamps))
	c.awaitRenewals(10)
	g.Expect(c.held().Annotations).To(Equal(stamps))

	c.remove("other")
	c.run("newer", newer, "node-2")
	c.running("newer")
	c.remove("older")
	c.leads("newer")
	stamps = c.stamps(v1alpha1.OldestEmulationVersion, "OnlyCandidate")
	g.Expect(c.held().Annotations).To(Equal(stamps))
	c.awaitRenewals(10)
	g.Expect(c.held().Annotations).To(Equal(stamps))
}

// Not even somebody with all rights changes what Leasewarden writes.
func TestAnnotationsCannotBeForged(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, quick)
	c.govern(byVersion, patient, withoutPods)
	c.register("host-a", older)
	c.ruled("host-a_1", Equal(allowed))

	_, err := c.acquire(kube, "host-a_1", annotate(v1alpha1.StepDownAnnotation, "host-a_1"))
	g.Expect(err).To(beForged(v1alpha1.StepDownAnnotation))
	_, err = c.acquire(kube, "host-a_1", annotate(v1alpha1.ElectedByAnnotation, "me"))
	g.Expect(err).NotTo(HaveOccurred(), "an acquire is stamped with the truth")
	stamps := c.stamps(v1alpha1.OldestEmulationVersion, "OnlyCandidate")
	g.Expect(c.held().Annotations).To(Equal(stamps))

	c.compete("host-a_1") // goes on with the Lease that it finds to be its own
	c.awaitRenewals(2)
	for _, key := range []string{v1alpha1.ElectedAnnotation, v1alpha1.ElectedByAnnotation, v1alpha1.StrategyAnnotation, v1alpha1.CriterionAnnotation} {
		g.Expect(c.patchAnnotation(key, `"me"`)).To(beForged(key))
		g.Expect(c.patchAnnotation(key, `null`)).To(beForged(key))
	}
	g.Expect(c.patchAnnotation(v1alpha1.StepDownAnnotation, `"host-a_1"`)).To(beForged(v1alpha1.StepDownAnnotation))
	g.Expect(c.patchAnnotation("example.com/note", `"mine"`)).To(Succeed(), "others are nobody's business")
	c.awaitRenewals(2)
	stamps["example.com/note"] = "mine"
	g.Expect(c.held().Annotations).To(Equal(stamps))
}

func annotate(key, value string) func(*coordinationv1.Lease) {
	return func(lease *coordinationv1.Lease) { metav1.SetMetaDataAnnotation(&lease.ObjectMeta, key, value) }
}

// patchAnnotation changes one annotation of the Lease, as an administrator.
func (c *contest) patchAnnotation(key, value string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, key, value)
	_, err := kube.CoordinationV1().Leases(c.namespace).Patch(c.t.Context(), c.namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// beForged matches the refusal of a write to an annotation of Leasewarden's.
func beForged(key string) OmegaMatcher {
	return And(MatchError(apierrors.IsForbidden, "forbidden"),
		MatchError(ContainSubstring("only Leasewarden may write the annotation "+key)))
}
