package candidates

import (
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// TestReplayAgreesWithACache plays the same attempts on both: what an audit
// says of yesterday is what was said yesterday.
func TestReplayAgreesWithACache(t *testing.T) {
	for name, unregistered := range map[string]v1alpha1.UnregisteredAction{"deny": v1alpha1.DenyUnregistered, "register": v1alpha1.RegisterUnregistered} {
		t.Run(name, func(t *testing.T) {
			policy := electionPolicy("p", func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Unregistered = unregistered })
			f, config := newFakeAPI(t)
			f.put(t, policies, policy)
			f.put(t, "v1/pods", webPod("web-1"))
			f.put(t, "v1/pods", webPod("web-2"))
			c := startCache(t, config)
			eventually(t, viewNames(c)).Should(Equal([]string{"web-1", "web-2"}))
			r := NewReplay(setOf(t, policy, webPod("web-1"), webPod("web-2")))

			held := renewedAt("web-1_a", start.Add(4*time.Second))
			for i, a := range []struct {
				old      *coordinationv1.Lease
				identity string
				after    time.Duration
				pod      string
			}{
				{nil, "web-1_a", 0, ""},
				{nil, "intruder_a", 1, ""},
				{nil, "web-2_a", 2, "web-2"},
				{nil, "web-2_a", 3, "web-1"},
				{nil, "intruder_a", 4, ""},
				{held, "web-2_a", 10, ""},
				{held, "web-1_b", 11, ""},
				{held, "web-2_a", 19, ""},
				{lease(""), "web-2_a", 21, ""},
				{lease(""), "", 22, ""},
				{lease(""), "intruder_a", 800, ""},
			} {
				at := start.Add(a.after * time.Second)
				attempt := Attempt{Old: a.old, New: renewedAt(a.identity, at), Time: at}
				if a.pod != "" {
					attempt.User = boundTo("ns", a.pod, "uid-"+a.pod)
				}
				live, err := c.Attempt(attempt)
				if err != nil {
					t.Fatal(err)
				}
				replayed, err := r.Attempt(attempt)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(inShort(live), inShort(replayed)); diff != "" {
					t.Errorf("attempt %d (-live +replayed):\n%s", i, diff)
				}
			}
		})
	}
}

// inShort is what a ruling depends on.
func inShort(b *Ballot) map[string]any {
	facts := map[string]any{
		"claimant": b.Claimant, "term ends": b.TermEnds, "term holder": b.TermHolder,
		"holder": b.State.Lease.Holder, "last holder": b.State.Lease.LastHolder, "contested since": b.State.Lease.ContestedSince,
		"duration": b.State.Lease.Duration,
	}
	for _, c := range b.State.Candidates {
		facts[c.Name] = []any{c.Sources, c.Unavailable, c.LastAttempt, c.BinaryVersion.String()}
	}
	return facts
}

func TestReplayOfALeaseThatNobodyHolds(t *testing.T) {
	g := NewWithT(t)
	r := NewReplay(setOf(t, electionPolicy("p"), webPod("web-1"), webPod("web-2")))
	r.Observe(renewedAt("web-2_a", start), start)
	v, err := r.Vacant(webKey, renewedAt("web-2_a", start), "web-1_a", start.Add(time.Second))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(v.State.Lease.Holder).To(BeEmpty(), "although web-2 holds it")
	g.Expect(v.State.Lease.LastHolder).To(Equal("web-1"))
	g.Expect(v.State.Lease.Duration).To(Equal(15 * time.Second))
	g.Expect(v.State.Candidates).To(HaveLen(2))

	v, err = r.View(webKey, renewedAt("web-2_a", start), start.Add(time.Second))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(v.State.Lease.Holder).To(Equal("web-2"))
}

func TestReplayKeepsOnlyWhatIsSelected(t *testing.T) {
	g := NewWithT(t)
	r := NewReplay(setOf(t, electionPolicy("p")))
	stranger := webPod("web-1", func(p *corev1.Pod) { p.Labels = nil })
	g.Expect(r.Add(stranger)).To(BeFalse())
	g.Expect(r.Add(webPod("web-1"))).To(BeTrue())
	g.Expect(r.Pod(keyOf(stranger))).NotTo(BeNil())
	g.Expect(r.Add(stranger)).To(BeFalse(), "it lost its label")
	g.Expect(r.Pod(keyOf(stranger))).To(BeNil())

	r.Add(leaseCandidate("web-3", "1.2.3", ""))
	r.Add(candidate("host"))
	names := func() []string {
		var all []string
		v, err := r.View(webKey, nil, start)
		g.Expect(err).NotTo(HaveOccurred())
		for _, c := range v.State.Candidates {
			all = append(all, c.Name)
		}
		return all
	}
	g.Expect(names()).To(ConsistOf("web-3", "host"))
	r.RemoveLeaseCandidate(keyOf(leaseCandidate("web-3", "", "")))
	r.RemoveCandidate(keyOf(candidate("host")))
	g.Expect(names()).To(BeEmpty())

	other := webKey
	other.Name = "other"
	_, err := r.View(other, nil, start)
	g.Expect(errors.Is(err, ErrNotGoverned)).To(BeTrue())
	_, err = r.Attempt(Attempt{Time: start})
	g.Expect(err).To(HaveOccurred())
}
