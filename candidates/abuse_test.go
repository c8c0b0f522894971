package candidates

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// heap is what is in use of it.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// create is an attempt to make a Lease of that name.
func create(name, identity string, at time.Time) Attempt {
	l := renewedAt(identity, at)
	l.Name = name
	return Attempt{New: l, Time: at}
}

// Whoever may make Leases may make up their names as well as identities. That
// fills neither memory nor the API, and has nothing forgotten of other Leases.
func TestMadeUpLeasesAreBounded(t *testing.T) {
	const attempts = 10_000
	for action, most := range map[v1alpha1.UnregisteredAction]int{
		v1alpha1.DenyUnregistered:     0,
		v1alpha1.RegisterUnregistered: MaxNamespaceRegistrations,
	} {
		t.Run(string(action), func(t *testing.T) {
			g := NewWithT(t)
			c := benchCache(1, 3, func(s *v1alpha1.ElectionPolicySpec) {
				s.Candidates.Unregistered, s.Leases.Names = action, []string{"*"}
			})
			before := heap()
			var last *Ballot
			for i := range attempts {
				b, err := c.Attempt(create(fmt.Sprintf("lease-%d", i), fmt.Sprintf("made-up-%d", i), start))
				g.Expect(err).NotTo(HaveOccurred())
				last = b
			}
			g.Expect(last.Claimant.Candidate).To(BeEmpty())
			g.Expect(c.ledger.leases.Len()).To(Equal(most), "Leases that are remembered")
			g.Expect(c.ledger.freshIn("ns")).To(Equal(most))
			g.Expect(c.registrar.pending).To(HaveLen(most), "objects to be written")
			g.Expect(heap()-before).To(BeNumerically("<", 16<<20), "bytes that are kept")
			if most > 0 {
				g.Expect(last.Claimant.Problem).To(Equal("is not a registered candidate, and 1024 others in its namespace were registered by their attempts in the last 10m0s"))
			}
			runtime.KeepAlive(c)
		})
	}
}

// What other replicas have registered counts as well, until it is removed.
func TestRegistrationsOfANamespaceAreCounted(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	f.put(t, policies, electionPolicy("p", register, leaseNames("*")))
	for i := range MaxNamespaceRegistrations {
		f.put(t, ownCandidates, candidate(fmt.Sprintf("made-up-%d", i), func(c *v1alpha1.CandidateSpec) {
			c.LeaseName, c.Identity, c.Origin = fmt.Sprintf("lease-%d", i), fmt.Sprintf("made-up-%d", i), v1alpha1.OriginAttempt
		}))
	}
	f.put(t, ownCandidates, candidate("theirs", func(c *v1alpha1.CandidateSpec) { c.Identity = "theirs" }))
	c := startCache(t, config)
	eventually(t, c.Synced).Should(Succeed())
	claimant := func() (Identification, error) {
		a := create("new", "made-up-new", time.Now())
		a.SideEffectFree = true
		b, err := c.Attempt(a)
		if err != nil {
			return Identification{}, err
		}
		return b.Claimant, nil
	}
	eventually(t, claimant).Should(HaveField("Problem", ContainSubstring("1024 others in its namespace")))
	f.remove(ownCandidates, "ns", "theirs")
	f.remove(ownCandidates, "ns", "made-up-7")
	name := registrationName(types.NamespacedName{Namespace: "ns", Name: "new"}, "made-up-new")
	eventually(t, claimant).Should(Equal(Identification{Candidate: name}))
	for range 2 { // the first one takes up the room that there is
		_, err := c.Attempt(create("new", "made-up-new", time.Now()))
		g.Expect(err).NotTo(HaveOccurred())
	}
	b, err := c.Attempt(create("newer", "made-up-newer", time.Now()))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Claimant.Problem).To(ContainSubstring("1024 others in its namespace"))
}

// A candidate that makes a Lease has its vacancy remembered from its first
// attempt on, though nothing is remembered for those of others.
func TestVacancyOfALeaseThatIsMadeCountsFromTheFirstCandidate(t *testing.T) {
	g := NewWithT(t)
	c := benchCache(1, 3, leaseNames("*"))
	for i, identity := range []string{"outsider", "outsider", "web-0-0_1", "outsider", "web-0-0_1"} {
		b, err := c.Attempt(create("lease-0", identity, start.Add(time.Duration(i)*time.Second)))
		g.Expect(err).NotTo(HaveOccurred())
		if i >= 2 {
			g.Expect(b.State.Lease.ContestedSince).To(BeTemporally("==", start.Add(2*time.Second)), "at attempt %d of %s", i, b.Claimant)
		}
	}
}
