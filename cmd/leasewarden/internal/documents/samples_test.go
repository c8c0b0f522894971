package documents

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// The API server takes each sample, and each is a policy that works.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("../../../../manifests/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	stories := map[string]v1alpha1.StrategyName{
		"audit-everything.yaml":         v1alpha1.FirstCome,
		"fast-failover.yaml":            v1alpha1.FirstCome,
		"oldest-emulation-version.yaml": v1alpha1.OldestEmulationVersion,
		"rollout-aware.yaml":            v1alpha1.RolloutAware,
		"spread.yaml":                   v1alpha1.Spread,
		"zone-preference.yaml":          v1alpha1.Topology,
	}
	NewWithT(t).Expect(files).To(HaveLen(len(stories)))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			g := NewWithT(t)
			set, err := Reader{Namespace: "none"}.Read(file)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(set.Ignored()).To(BeEmpty())
			g.Expect(set.Objects()).To(HaveLen(1))

			var policy *candidates.Policy
			switch o := set.Objects()[0].Object.(type) {
			case *v1alpha1.ElectionPolicy:
				policy = candidates.CompilePolicy(o)
			case *v1alpha1.ClusterElectionPolicy:
				policy = candidates.CompileClusterPolicy(o)
			default:
				t.Fatalf("the sample is a %T", o)
			}
			g.Expect(policy.Errors).To(BeEmpty())
			g.Expect(policy.Ref.Namespace).NotTo(Equal("none"), "a sample must name its namespace")
			g.Expect(policy.Spec.Strategy.Name).To(Equal(stories[filepath.Base(file)]))
		})
	}
}
