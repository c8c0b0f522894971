package behaviour

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func inDryRun(spec *v1alpha1.ElectionPolicySpec) { spec.Mode = v1alpha1.DryRun }

// workload is a silent candidate of the older version, whom the policy would
// choose, and two of the newer one that lead one after the other. Both would be
// refused, and told to step down.
func (c *contest) workload() {
	c.t.Helper()
	c.idle("silent", older, "node-2")
	c.elect("first", newer, "node-1")
	c.leads("first")
	c.elect("second", newer, "node-2")
	c.running("second")
	c.awaitRenewals(6)
	c.remove("first")
	c.leads("second")
	c.awaitRenewals(6)
}

// In dry-run nobody and nothing notices the policy: not the leaders, not the
// Lease, not a line in the log of a component. What would have happened stands
// in the Election.
func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	free, dry := newContest(t, quick), newContest(t, quick)
	dry.govern(byVersion, inDryRun, preempting(v1alpha1.DenyRenewal))
	free.workload()
	dry.workload()

	for _, pod := range []string{"first", "second"} {
		g.Expect(dry.said(pod)).To(Equal(free.said(pod)), "what %s has logged", pod)
	}
	g.Expect(dry.shape()).To(Equal(free.shape()), "the Lease")

	g.Eventually(dry.dryRun, soon, often).Should(HaveValue(And(
		HaveField("Leader", "silent"), HaveField("LeaderChanges", BeEquivalentTo(1)),
		HaveField("HolderChanges", BeEquivalentTo(2)), HaveField("WouldDeny", BeEquivalentTo(2)),
		HaveField("LastDenied", HaveValue(HaveField("Message", "second would have been refused: silent is chosen by OldestEmulationVersion"))),
		HaveField("WouldDo", "second would be told to step down: silent is chosen by OldestEmulationVersion"),
		HaveField("Message", ContainSubstring("is an estimate")),
	)))
	g.Eventually(dry.told, soon, often).Should(ConsistOf(
		"WouldDeny: first would have been refused: silent is chosen by OldestEmulationVersion",
		"WouldDeny: second would have been refused: silent is chosen by OldestEmulationVersion",
		"WouldAct: first would be told to step down: silent is chosen by OldestEmulationVersion",
		"WouldAct: second would be told to step down: silent is chosen by OldestEmulationVersion",
	))
	terms, err := dry.terms()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(terms).To(HaveLen(2))
}

// A policy is enforced and in dry-run again without a restart of anything, and
// what was known is kept.
func TestDryRunIsEndedAndBegunLive(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	policy := c.govern(byVersion, inDryRun, preempting(v1alpha1.DenyRenewal))
	c.idle("silent", older, "node-2")
	c.elect("first", newer, "node-1")
	c.leads("first")
	g.Eventually(c.dryRun, soon, often).Should(HaveValue(HaveField("WouldDo", ContainSubstring("first would be told to step down"))))
	g.Consistently(c.order, "2s", often).Should(BeEmpty())
	before, err := c.dryRun()
	g.Expect(err).NotTo(HaveOccurred())

	c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.Mode = v1alpha1.Enforce })
	g.Eventually(c.order, soon, often).Should(Equal(c.identity()))
	g.Eventually(c.dryRun, soon, often).Should(HaveValue(And(
		HaveField("Until", Not(BeNil())), HaveField("WouldDeny", before.WouldDeny), HaveField("Since", before.Since))))

	c.edit(policy, inDryRun)
	g.Eventually(c.order, soon, often).Should(BeEmpty())
	g.Eventually(c.dryRun, soon, often).Should(HaveValue(HaveField("Until", BeNil())))
	c.awaitRenewals(5)
	g.Expect(c.holder()).To(Equal("first"), "it never lost the Lease")
	g.Eventually(c.terms, soon, often).Should(HaveLen(1))
}

func TestDryRunWarnsIfThePolicySaysSo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := newContest(t, slow)
	policy := c.govern(byVersion, inDryRun, withoutPods)
	c.register("host-a", older)
	c.register("host-b", newer)
	warnings := &recorder{}
	config := rest.CopyConfig(cluster.Config())
	config.WarningHandler = warnings
	as, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	try := func() []string {
		_, err := c.acquire(as, "host-b_1")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(kube.CoordinationV1().Leases(c.namespace).Delete(t.Context(), c.namespace, metav1.DeleteOptions{})).To(Succeed())
		return warnings.take()
	}
	c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.DryRunWarnings = true })
	g.Eventually(try, soon, often).Should(HaveExactElements(ContainSubstring("would be denied if the policy were enforced")))
	c.edit(policy, func(spec *v1alpha1.ElectionPolicySpec) { spec.DryRunWarnings = false })
	g.Eventually(try, soon, often).Should(BeEmpty())
	g.Consistently(try, "1s", often).Should(BeEmpty())
}

// recorder keeps warnings.
type recorder struct {
	mu  sync.Mutex
	all []string
}

func (r *recorder) HandleWarningHeader(_ int, _, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, text)
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.all
	r.all = nil
	return taken
}

// dryRun is what the Election says of it.
func (c *contest) dryRun() (*v1alpha1.DryRunStatus, error) {
	election, err := c.election()
	return election.Status.DryRun, err
}

// told are the Events of a dry-run, with as many repetitions as there were.
func (c *contest) told() ([]string, error) {
	list, err := kube.EventsV1().Events(c.namespace).List(c.t.Context(), metav1.ListOptions{})
	var found []string
	for _, e := range list.Items {
		if e.Regarding.Kind == "Election" && strings.HasPrefix(e.Reason, "Would") {
			found = append(found, slices.Repeat([]string{e.Reason + ": " + e.Note}, times(&e))...)
		}
	}
	return found, err
}

func times(e *eventsv1.Event) int {
	if e.Series == nil {
		return 1
	}
	return int(e.Series.Count)
}

var (
	header  = regexp.MustCompile(`(?m)^([IWEF])\d{4} [\d:.]+ +\d+ `)
	uuids   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)`)
)

// anonymous is a text without what is different for each contest.
func (c *contest) anonymous(text string) string {
	text = header.ReplaceAllString(text, "$1 ")
	text = uuids.ReplaceAllString(text, "UUID")
	text = moments.ReplaceAllString(text, "TIME")
	return strings.ReplaceAll(text, c.namespace, "NAMESPACE")
}

// said are the different lines that a Pod has logged, but for the first, in which
// it says who it is, and for those on the requests that its end happens to cut off.
func (c *contest) said(pod string) []string {
	c.t.Helper()
	logs, err := cluster.ContainerLogs(c.namespace)
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
	var lines []string
	for _, path := range logs {
		if !strings.Contains(path, pod) {
			continue
		}
		content, err := os.ReadFile(path)
		NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
		_, rest, _ := strings.Cut(string(content), "\n")
		lines = append(lines, strings.Split(c.anonymous(rest), "\n")...)
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "context canceled") })
	slices.Sort(lines)
	return slices.Compact(lines)
}

// shape is the Lease without what is different for each, and each renewal.
func (c *contest) shape() string {
	c.t.Helper()
	lease := c.held()
	lease.UID, lease.ResourceVersion = "", ""
	lease.CreationTimestamp, lease.Spec.AcquireTime, lease.Spec.RenewTime = metav1.Time{}, nil, nil
	for i := range lease.ManagedFields {
		lease.ManagedFields[i].Time = nil
	}
	lease.TypeMeta = metav1.TypeMeta{Kind: "Lease", APIVersion: coordinationv1.SchemeGroupVersion.String()}
	text, err := yaml.Marshal(lease)
	NewWithT(c.t).Expect(err).NotTo(HaveOccurred())
	return c.anonymous(string(text))
}
