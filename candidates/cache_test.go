package candidates

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

var policies, clusterPolicies, ownCandidates, elections = ownResources[0], ownResources[1], ownResources[2], ownResources[3]

// soon bounds what takes a round trip to the fake API server, and a backoff.
const soon = 20 * time.Second

// startCache starts a Cache that ends with the test.
func startCache(t testing.TB, config *rest.Config, mutate ...func(*Options)) *Cache {
	t.Helper()
	o := Options{Config: config, Namespace: "leasewarden"}
	for _, m := range mutate {
		m(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.backoff.Duration, c.backoff.Cap = 10*time.Millisecond, 100*time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

func eventually(t testing.TB, f any) AsyncAssertion {
	t.Helper()
	return NewWithT(t).Eventually(f).WithTimeout(soon).WithPolling(5 * time.Millisecond)
}

// viewNames are the candidates of the Lease "web" by name, or the error.
func viewNames(c *Cache) func() ([]string, error) {
	return func() ([]string, error) {
		v, err := c.View(webKey, nil, start)
		if err != nil {
			return nil, err
		}
		names := []string{}
		for _, c := range v.State.Candidates {
			names = append(names, c.Name)
		}
		slices.Sort(names)
		return names, nil
	}
}

func TestCacheFollowsTheCluster(t *testing.T) {
	f, config := newFakeAPI(t)
	f.put(t, "v1/pods", webPod("web-1"))
	f.put(t, "v1/pods", webPod("stranger", func(p *corev1.Pod) { p.Labels = nil }))
	f.put(t, policies, electionPolicy("p"))
	c := startCache(t, config)
	eventually(t, c.Synced).Should(Succeed())
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}))

	f.put(t, "v1/pods", webPod("web-2"))
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1", "web-2"}))
	f.put(t, "v1/pods", webPod("web-1", func(p *corev1.Pod) { p.Labels["app"] = "other" }))
	eventually(t, viewNames(c)).Should(Equal([]string{"web-2"}), "it is not selected any more")
	f.put(t, ownCandidates, candidate("vm", func(c *v1alpha1.CandidateSpec) { c.Identity = "vm" }))
	eventually(t, viewNames(c)).Should(Equal([]string{"vm", "web-2"}))
	f.remove("v1/pods", "ns", "web-2")
	eventually(t, viewNames(c)).Should(Equal([]string{"vm"}))

	edited := electionPolicy("p", func(s *v1alpha1.ElectionPolicySpec) {
		s.Candidates.Pods.Selector.MatchLabels["app"] = "other"
	})
	edited.Generation = 2
	f.put(t, policies, edited)
	eventually(t, viewNames(c)).Should(Equal([]string{"vm", "web-1"}))
	eventually(t, func() int { return f.watching("v1/pods") }).Should(Equal(1), "the old selector is not watched any more")
	f.remove(policies, "ns", "p")
	eventually(t, func() error { _, err := c.View(webKey, nil, start); return err }).Should(MatchError(ErrNotGoverned))
	eventually(t, func() int { return f.watching("v1/pods") }).Should(Equal(0))
}

func TestWatchesAreSharedBetweenPolicies(t *testing.T) {
	f, config := newFakeAPI(t)
	f.put(t, "v1/pods", webPod("web-1"))
	f.put(t, policies, electionPolicy("a"))
	f.put(t, policies, electionPolicy("b", leaseNames("other")))
	c := startCache(t, config)
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}))
	eventually(t, func() int { return f.watching("v1/pods") }).Should(Equal(1))
	f.remove(policies, "ns", "b")
	eventually(t, func() []*Policy { return c.Policies() }).Should(HaveLen(1))
	NewWithT(t).Expect(f.watching("v1/pods")).To(Equal(1))
	NewWithT(t).Expect(viewNames(c)()).To(Equal([]string{"web-1"}))
}

func TestNamespacesOfAClusterPolicy(t *testing.T) {
	f, config := newFakeAPI(t)
	inTeam := func(s *v1alpha1.ClusterElectionPolicySpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	}
	namespace := func(name, team string) *corev1.Namespace {
		return &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}}
	}
	f.put(t, "v1/namespaces", namespace("ns", "b"))
	f.put(t, "v1/pods", webPod("web-1"))
	f.put(t, clusterPolicies, clusterPolicy("c", inTeam))
	c := startCache(t, config)
	touched := recordTouched(c)
	eventually(t, c.Synced).Should(Succeed())
	c.Track(webKey)
	_, err := c.View(webKey, nil, start)
	NewWithT(t).Expect(err).To(MatchError(ErrNotGoverned))

	touched.reset()
	f.put(t, "v1/namespaces", namespace("ns", "a"))
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}))
	eventually(t, touched.get).Should(ContainElement(webKey))
	for i := range maxNamespaceScopes {
		f.put(t, "v1/namespaces", namespace(string(rune('a'+i)), "a"))
	}
	eventually(t, func() int { return f.watching("v1/pods") }).Should(Equal(1), "many namespaces share one watch")
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}))
	f.remove("v1/namespaces", "", "ns")
	eventually(t, func() error { _, err := c.View(webKey, nil, start); return err }).Should(MatchError(ErrNotGoverned))
}

func TestAbsentResourcesCountAsEmpty(t *testing.T) {
	f, config := newFakeAPI(t)
	for _, r := range ownResources {
		f.withdraw(r)
	}
	c := startCache(t, config)
	eventually(t, c.Synced).Should(Succeed())
	NewWithT(t).Expect(c.Governing(webKey).Policy).To(BeNil())

	f.serve(ownResources...)
	f.put(t, policies, electionPolicy("p"))
	f.put(t, "v1/pods", webPod("web-1"))
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}), "installed later")

	f.withdraw(policies)
	eventually(t, func() *Policy { return c.Governing(webKey).Policy }).Should(BeNil(), "deleted without an event")
	NewWithT(t).Expect(c.Synced()).To(Succeed())
}

func TestSyncedNamesWhatIsMissing(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	f.setRefused("v1/pods", true)
	f.put(t, policies, electionPolicy("p"))
	idle, err := New(Options{Config: config})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(idle.Synced()).To(MatchError(ErrNotSynced))

	c := startCache(t, config)
	eventually(t, func() string {
		if err := c.Synced(); errors.Is(err, ErrNotSynced) {
			return err.Error()
		}
		return ""
	}).Should(And(ContainSubstring("Pods with labels app=web in namespace ns"), ContainSubstring("Forbidden")))
	_, err = c.View(webKey, nil, start)
	g.Expect(err).To(MatchError(ErrNotSynced))
	_, err = c.Attempt(Attempt{New: lease("web-1_a"), Time: start})
	g.Expect(err).To(MatchError(ErrNotSynced))
	eventually(t, func() error {
		_, err := c.View(types.NamespacedName{Namespace: "ns", Name: "free"}, nil, start)
		return err
	}).Should(MatchError(ErrNotGoverned), "other Leases do not wait for it")

	f.setRefused("v1/pods", false)
	eventually(t, c.Synced).Should(Succeed())

	f.setRefused("v1/pods", true)
	f.put(t, policies, electionPolicy("late", leaseNames("late"), func(s *v1alpha1.ElectionPolicySpec) {
		s.Candidates.Pods.Selector.MatchLabels["app"] = "late"
	}))
	eventually(t, func() error {
		_, err := c.View(types.NamespacedName{Namespace: "ns", Name: "late"}, nil, start)
		return err
	}).Should(MatchError(ErrNotSynced))
	g.Expect(c.Synced()).To(Succeed(), "the others are served on")
	g.Expect(viewNames(c)()).To(BeEmpty())
}

func TestLeaseCandidatesComeAndGo(t *testing.T) {
	f, config := newFakeAPI(t)
	clock := testclock.NewFakeClock(start)
	f.put(t, policies, electionPolicy("p"))
	c := startCache(t, config, func(o *Options) { o.Clock, o.DiscoveryInterval = clock, time.Second })
	eventually(t, viewNames(c)).Should(BeEmpty())
	discover := func() {
		eventually(t, clock.HasWaiters).Should(BeTrue())
		clock.Step(time.Second)
	}

	f.serve(alphaLeaseCandidates)
	alpha := &coordinationv1alpha2.LeaseCandidate{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1alpha2", Kind: "LeaseCandidate"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "old_1"},
		Spec:       coordinationv1alpha2.LeaseCandidateSpec{LeaseName: "web", BinaryVersion: "1.32.0"}}
	f.put(t, alphaLeaseCandidates, alpha)
	discover()
	eventually(t, viewNames(c)).Should(Equal([]string{"old_1"}))

	f.serve(betaLeaseCandidates)
	f.put(t, betaLeaseCandidates, leaseCandidate("new_1", "1.37.0", "1.37.0"))
	discover()
	eventually(t, viewNames(c)).Should(Equal([]string{"new_1"}), "the newer version is preferred")
	eventually(t, func() int { return f.watching(alphaLeaseCandidates) }).Should(BeZero())

	f.withdraw(alphaLeaseCandidates)
	f.withdraw(betaLeaseCandidates)
	discover()
	eventually(t, viewNames(c)).Should(BeEmpty())
	NewWithT(t).Expect(c.Synced()).To(Succeed())
}

// touchedLeases records what the handlers are told.
type touchedLeases struct {
	mu     sync.Mutex
	leases []types.NamespacedName
}

func recordTouched(c *Cache) *touchedLeases {
	r := &touchedLeases{}
	c.Subscribe(func(key types.NamespacedName) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.leases = append(r.leases, key)
	})
	return r
}

func (r *touchedLeases) get() []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.leases)
}

func (r *touchedLeases) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leases = nil
}

func TestEventsTouchOnlyTheLeasesTheyConcern(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	byLabel := func(s *v1alpha1.ElectionPolicySpec) {
		s.Leases.Names = []string{"mapped-*"}
		s.Candidates.Pods.LeaseName = &v1alpha1.FieldSource{FromLabel: "lease"}
	}
	of := func(lease string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels["lease"] = lease }
	}
	f.put(t, policies, electionPolicy("named"))
	f.put(t, policies, electionPolicy("mapped", byLabel))
	f.put(t, "v1/pods", webPod("web-1", of("mapped-1")))
	node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	f.put(t, "v1/nodes", node)
	c := startCache(t, config)
	eventually(t, c.Synced).Should(Succeed())
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }
	for _, name := range []string{"web", "mapped-1", "mapped-2", "free"} {
		c.Track(key(name))
	}
	touched := recordTouched(c)
	var edits atomic.Int32
	c.SubscribePolicies(func() { edits.Add(1) })

	f.put(t, "v1/pods", webPod("web-1", of("mapped-2")))
	eventually(t, touched.get).Should(ConsistOf(key("web"), key("mapped-1"), key("mapped-2")))
	touched.reset()

	f.put(t, "v1/pods", webPod("web-1", of("mapped-2"), func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }))
	node.Labels = map[string]string{corev1.LabelTopologyZone: "a"}
	f.put(t, "v1/nodes", node)
	eventually(t, touched.get).Should(ConsistOf(key("web"), key("mapped-2")), "the node, and not what is not kept of the Pod")
	touched.reset()

	f.put(t, ownCandidates, candidate("vm", func(c *v1alpha1.CandidateSpec) { c.Identity, c.LeaseName = "vm", "mapped-1" }))
	eventually(t, touched.get).Should(ConsistOf(key("mapped-1")))
	touched.reset()

	election := &v1alpha1.Election{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Election"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Generation: 1}}
	f.put(t, elections, election)
	eventually(t, touched.get).Should(ConsistOf(key("web")))
	touched.reset()
	election.Status.Chosen = "web-1"
	f.put(t, elections, election)
	eventually(t, func() string {
		if e := c.Election(key("web")); e != nil {
			return e.Status.Chosen
		}
		return ""
	}).Should(Equal("web-1"))
	g.Expect(touched.get()).To(BeEmpty(), "a status is our own writing")

	g.Expect(c.Governed(picker.PolicyRef{Kind: KindElectionPolicy, Namespace: "ns", Name: "mapped"})).To(Equal(2))
	c.Forget(key("mapped-1"))
	g.Expect(c.Governed(picker.PolicyRef{Kind: KindElectionPolicy, Namespace: "ns", Name: "mapped"})).To(Equal(1))
	f.put(t, policies, electionPolicy("late", leaseNames("free")))
	eventually(t, touched.get).Should(ConsistOf(key("free")))
	g.Expect(c.Governing(key("free")).Policy).NotTo(BeNil())
	g.Expect(edits.Load()).To(Equal(int32(1)))
}

// What is kept does not depend on what else is in the cluster.
func TestOnlySelectedPodsAreKept(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	for i := range 300 {
		f.put(t, "v1/pods", webPod("stranger-"+string(rune('a'+i%26))+string(rune('a'+i/26)), func(p *corev1.Pod) { p.Labels = nil }))
	}
	f.put(t, "v1/pods", webPod("web-1", func(p *corev1.Pod) {
		p.Annotations = map[string]string{lastApplied: "{}", "kept": "yes"}
		p.Spec.Volumes = []corev1.Volume{{Name: "v"}}
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "B"}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", ContainerID: "containerd://1", Image: "web", RestartCount: 2}}
	}))
	f.put(t, policies, electionPolicy("p"))
	c := startCache(t, config)
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1"}))
	v, err := c.View(webKey, nil, start)
	g.Expect(err).NotTo(HaveOccurred())
	pod := v.Pod("web-1")
	g.Expect(pod.Spec.Volumes).To(BeEmpty())
	g.Expect(pod.Spec.Containers).To(Equal([]corev1.Container{{Name: "web", Image: "registry:5000/web:v1.2.3"}}))
	g.Expect(pod.Annotations).To(Equal(map[string]string{"kept": "yes"}))
	g.Expect(pod.Status.ContainerStatuses[0].ContainerID).To(Equal("containerd://1"))
	g.Expect(v.Pod("nobody")).To(BeNil())
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, sc := range c.state.scopes {
		g.Expect(sc.pool.byNamespace["ns"]).To(HaveLen(1))
	}
}

func TestRevisionsAreWatchedOnlyWhereTheyMatter(t *testing.T) {
	f, config := newFakeAPI(t)
	owned := func(uid, hash string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", UID: types.UID(uid), Controller: ptr(true)}}
			p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		}
	}
	replicaSet := func(uid, revision string) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: uid, UID: types.UID(uid), Labels: map[string]string{"app": "web"},
				Annotations: map[string]string{revisionAnnotation: revision}}}
	}
	f.put(t, "v1/pods", webPod("a", owned("rs1", "h1")))
	f.put(t, "v1/pods", webPod("b", owned("rs2", "h2")))
	f.put(t, "apps/v1/replicasets", replicaSet("rs1", "4"))
	f.put(t, "apps/v1/replicasets", replicaSet("rs2", "5"))
	f.put(t, policies, electionPolicy("p", rolloutAware))
	c := startCache(t, config)
	numbers := func() map[string]int64 {
		got := map[string]int64{}
		if v, err := c.View(webKey, nil, start); err == nil {
			for _, c := range v.State.Candidates {
				got[c.Name] = c.RevisionNumber
			}
		}
		return got
	}
	eventually(t, numbers).Should(Equal(map[string]int64{"a": 4, "b": 5}))
	c.Track(webKey)
	touched := recordTouched(c)
	f.put(t, "apps/v1/replicasets", replicaSet("rs1", "6"))
	eventually(t, numbers).Should(Equal(map[string]int64{"a": 6, "b": 5}), "rolled back")
	eventually(t, touched.get).Should(ConsistOf(webKey))

	plain := electionPolicy("p")
	plain.Generation = 2
	f.put(t, policies, plain)
	eventually(t, func() int { return f.watching("apps/v1/replicasets") + f.watching("apps/v1/controllerrevisions") }).Should(BeZero())
	eventually(t, numbers).Should(Equal(map[string]int64{"a": 0, "b": 0}))
}

func TestHeldByNodeFromElections(t *testing.T) {
	f, config := newFakeAPI(t)
	held := func(lease, holder, node string) *v1alpha1.Election {
		return &v1alpha1.Election{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Election"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: lease},
			Status: v1alpha1.ElectionStatus{Holder: &v1alpha1.ElectionHolder{Name: holder},
				Candidates: []v1alpha1.CandidateVerdict{{Name: holder, Node: node}}}}
	}
	f.put(t, policies, electionPolicy("p", func(s *v1alpha1.ElectionPolicySpec) { s.Strategy.Name = v1alpha1.Spread }))
	for _, e := range []*v1alpha1.Election{held("web", "a", "node-1"), held("x", "b", "node-1"), held("y", "c", "node-2")} {
		f.put(t, elections, e)
	}
	c := startCache(t, config)
	byNode := func() map[string]int {
		v, err := c.View(webKey, nil, start)
		if err != nil {
			return nil
		}
		return v.State.Lease.HeldByNode
	}
	eventually(t, byNode).Should(Equal(map[string]int{"node-1": 1, "node-2": 1}), "without its own")
	f.put(t, elections, held("x", "c", "node-2"))
	eventually(t, byNode).Should(Equal(map[string]int{"node-1": 0, "node-2": 2}))
	f.remove(elections, "ns", "y")
	eventually(t, byNode).Should(Equal(map[string]int{"node-1": 0, "node-2": 1}))
}

func TestAttempt(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	f.put(t, policies, electionPolicy("p"))
	f.put(t, "v1/pods", webPod("web-1"))
	f.put(t, "v1/pods", webPod("web-2"))
	c := startCache(t, config)
	eventually(t, viewNames(c)).Should(Equal([]string{"web-1", "web-2"}))
	attempt := func(old *coordinationv1.Lease, identity string, after time.Duration, mutate ...func(*Attempt)) *Ballot {
		a := Attempt{Old: old, New: renewedAt(identity, start.Add(after)), Time: start.Add(after)}
		for _, m := range mutate {
			m(&a)
		}
		b, err := c.Attempt(a)
		g.Expect(err).NotTo(HaveOccurred())
		return b
	}
	lastAttempt := func(b *Ballot, name string) time.Time {
		return b.State.Candidates[b.roster.index(name)].LastAttempt
	}

	b := attempt(nil, "web-1_a", 0, func(a *Attempt) { a.SideEffectFree = true })
	g.Expect(b.Claimant).To(Equal(Identification{Candidate: "web-1"}))
	g.Expect(b.State.Lease.ContestedSince).To(BeTemporally("==", start))
	g.Expect(b.State.Lease.Duration).To(Equal(15*time.Second), "as the claimant has it")
	b = attempt(nil, "intruder_a", time.Second)
	g.Expect(b.Claimant).To(Equal(Identification{Problem: notRegistered}))
	g.Expect(b.State.Lease.ContestedSince).To(BeZero(), "neither counts")

	b = attempt(nil, "web-1_a", 2*time.Second)
	g.Expect(b.State.Lease.ContestedSince).To(BeTemporally("==", start.Add(2*time.Second)))
	b = attempt(nil, "web-2_a", 3*time.Second, func(a *Attempt) { a.User = boundTo("ns", "web-2", "uid-web-2") })
	g.Expect(b.Claimant).To(Equal(Identification{Candidate: "web-2", Proved: true}))
	g.Expect(b.State.Lease.ContestedSince).To(BeTemporally("==", start.Add(2*time.Second)))
	g.Expect(lastAttempt(b, "web-1")).To(BeTemporally("==", start.Add(2*time.Second)))
	g.Expect(lastAttempt(b, "web-2")).To(BeTemporally("==", start.Add(3*time.Second)))
	g.Expect(b.Identity("web-1")).To(Equal("web-1_a"))

	held := renewedAt("web-1_a", start.Add(4*time.Second))
	b = attempt(held, "web-2_a", 10*time.Second)
	g.Expect(b.TermEnds).To(BeTemporally("==", start.Add(19*time.Second)))
	g.Expect(b.TermHolder).To(Equal("web-1_a"))
	g.Expect(b.State.Lease.Holder).To(Equal("web-1"))
	g.Expect(b.State.Lease.ContestedSince).To(BeZero())
	b = attempt(held, "web-2_a", 19*time.Second)
	g.Expect(b.TermEnds).To(BeZero())
	g.Expect(b.State.Lease.Holder).To(BeEmpty())
	g.Expect(b.State.Lease.LastHolder).To(Equal("web-1"))
	g.Expect(b.State.Lease.ContestedSince).To(BeTemporally("==", start.Add(19*time.Second)))

	_, err := c.Attempt(Attempt{Time: start})
	g.Expect(err).To(HaveOccurred())
	g.Expect(attempt(nil, "", 20*time.Second).Claimant.Problem).To(Equal("names no holder"))

	c.Deleted(renewedAt("web-1_a", start.Add(21*time.Second)), start.Add(22*time.Second))
	b = attempt(nil, "web-2_a", 23*time.Second)
	g.Expect(b.TermHolder).To(Equal("web-1_a"))
	g.Expect(b.TermEnds).To(BeTemporally("==", start.Add(36*time.Second)))
}

// The kubelet reports a second or more later that a container runs; its own
// token proves it at once.
func TestAttemptOfAPodThatIsNotReportedToRunYet(t *testing.T) {
	pending := func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
	ending := func(p *corev1.Pod) { pending(p); p.DeletionTimestamp = ptr(metav1.NewTime(start)) }
	tests := map[string]struct {
		pod         func(*corev1.Pod)
		uid         string
		unavailable string
	}{
		"its own token":                    {pending, "uid-web-1", ""},
		"no token":                         {pending, "", notRunning},
		"the token of an earlier namesake": {pending, "uid-older", notRunning},
		"it is terminating":                {ending, "uid-web-1", "Pod is terminating"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f, config := newFakeAPI(t)
			f.put(t, policies, electionPolicy("p"))
			f.put(t, "v1/pods", webPod("web-1", test.pod))
			f.put(t, "v1/pods", webPod("web-2"))
			c := startCache(t, config)
			eventually(t, viewNames(c)).Should(Equal([]string{"web-1", "web-2"}))
			a := Attempt{New: renewedAt("web-1_a", start), Time: start}
			if test.uid != "" {
				a.User = boundTo("ns", "web-1", test.uid)
			}
			b, err := c.Attempt(a)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(b.State.Candidates[b.roster.index("web-1")].Unavailable).To(Equal(test.unavailable))
			later, err := c.Attempt(Attempt{New: renewedAt("web-2_a", start), Time: start.Add(time.Second)})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(later.State.Candidates[later.roster.index("web-1")].Unavailable).To(Equal(test.unavailable), "the next one knows, too")
		})
	}
}
