package behaviour

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// report is what the test reads of the report of "leasewarden audit".
type report struct{ Leases []leaseReport }

type leaseReport struct {
	Lease   string
	AsItWas struct{ Terms []struct{ Holder string } }
	// Recorded compares the report with what the webhook left in the log.
	Recorded *struct {
		Decisions   map[string]float64
		Agree       int
		Differences []string
	}
}

// of is the report on the contest's Lease.
func (r *report) of(c *contest) *leaseReport {
	i := slices.IndexFunc(r.Leases, func(l leaseReport) bool { return l.Lease == c.namespace+"/"+c.namespace })
	if i < 0 {
		return &leaseReport{}
	}
	return &r.Leases[i]
}

func (l *leaseReport) leaders() (all []string) {
	for _, term := range l.AsItWas.Terms {
		all = append(all, term.Holder)
	}
	return all
}

// The same workload has the same leaders without a policy and in a dry run, and
// the API server's log of it says the same as the webhook's own counts.
func TestDryRunLeadsAsWithoutPolicy(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	free, dry := newContest(t, quick), newContest(t, quick)
	policy := dry.govern(byVersion, func(spec *v1alpha1.ElectionPolicySpec) { spec.Mode = v1alpha1.DryRun })
	for _, c := range []*contest{free, dry} {
		c.idle("silent", older, "node-2") // whom the policy would choose, for a while
		c.elect("first", newer, "node-1")
		c.leads("first")
		c.elect("second", older, "node-2")
		c.running("second")
		c.remove("first")
		c.leads("second")
		c.elect("third", newer, "node-1")
		c.running("third")
		c.remove("second")
		c.leads("third")
	}

	other := policy.DeepCopy()
	other.Namespace, other.Spec.Leases.Names = free.namespace, []string{free.namespace}
	other.Spec.Candidates.Pods.Selector.MatchLabels = map[string]string{"app": free.namespace}
	r := audit(t, policy, other)
	want := []string{"first", "second", "third"}
	g.Expect(r.of(free).leaders()).To(Equal(want))
	g.Expect(r.of(dry).leaders()).To(Equal(want))

	g.Eventually(func(g Gomega) { // an attempt may be counted that was not logged yet
		counted := map[string]float64{}
		for _, verdict := range []string{"Allow", "Deny"} {
			n, err := warden.CounterWhere("leasewarden_rulings_total", map[string]string{"lease_namespace": dry.namespace, "verdict": verdict})
			g.Expect(err).NotTo(HaveOccurred())
			if n > 0 {
				counted[verdict] = n
			}
		}
		recorded := audit(t, policy, other).of(dry).Recorded
		g.Expect(recorded).NotTo(BeNil())
		g.Expect(recorded.Decisions).To(Equal(counted))
		g.Expect(recorded.Decisions["Deny"]).To(BeNumerically(">", 0))
		g.Expect(recorded.Agree).To(BeNumerically(">", 0))
		g.Expect(recorded.Differences).To(BeEmpty())
	}, soon, often).Should(Succeed())
}

// audit runs "leasewarden audit" over the API server's log.
func audit(t *testing.T, policies ...*v1alpha1.ElectionPolicy) *report {
	t.Helper()
	g := NewWithT(t)
	args := []string{"audit", "--log", cluster.AuditLog(), "-o", "json"}
	for _, p := range policies {
		p = p.DeepCopy()
		p.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ElectionPolicy"))
		p.ManagedFields = nil
		data, err := yaml.Marshal(p)
		g.Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(t.TempDir(), p.Namespace+".yaml")
		g.Expect(os.WriteFile(file, data, 0o600)).To(Succeed())
		args = append(args, "--policy", file)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stderr = t.Output()
	out, err := command.Output()
	g.Expect(err).NotTo(HaveOccurred())
	r := &report{}
	g.Expect(json.Unmarshal(out, r)).To(Succeed())
	return r
}
