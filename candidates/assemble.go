package candidates

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// leaseCandidateValid is how long a LeaseCandidate counts after its last
// renewal. It is kube-apiserver's leaseCandidateValidDuration
// (pkg/controlplane/controller/leaderelection), so that both see the same ones.
const leaseCandidateValid = 30 * time.Minute

// Assemble puts together what objects know of a governed Lease. lease is the
// Lease as it is, nil if it does not exist. It takes time and memory by the
// number of the Lease's own candidates only.
func Assemble(objects Objects, g Governance, key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) *View {
	return assemble(objects, g, key, lease, memory{}, now).recall(objects, g.Policy, key)
}

func assemble(objects Objects, g Governance, key types.NamespacedName, lease *coordinationv1.Lease, past memory, now time.Time) *View {
	a := assembly{objects: objects, policy: g.Policy, lease: key, now: now}
	a.addPods()
	a.addLeaseCandidates()
	a.addCandidates()
	a.addAttempts(past)
	if g.Policy.needs.revisions {
		numberRevisions(a.roster.candidates)
	}
	return &View{
		Policy:    g.Policy.Compiled,
		Spec:      g.Policy.Spec,
		Overruled: g.Overruled,
		Problems:  a.roster.problems,
		State: picker.State{
			Lease:      a.pickerLease(lease, past),
			Candidates: a.roster.candidates,
			Intent:     intentOf(objects.Election(key), now),
			Now:        now,
		},
		roster: a.roster,
	}
}

// assembly is the work of putting one roster together.
type assembly struct {
	objects Objects
	policy  *Policy
	lease   types.NamespacedName
	now     time.Time
	roster  *roster
}

// addPods begins the roster with the Pods, whose facts are trusted most.
func (a *assembly) addPods() {
	source := a.policy.pods
	if source == nil {
		a.roster = newRoster(a.lease.Namespace, nil, 0)
		return
	}
	pods := a.objects.Pods(a.policy, a.lease)
	a.roster = newRoster(a.lease.Namespace, source.pattern, len(pods))
	for _, pod := range pods {
		a.addPod(pod)
	}
}

func (a *assembly) addPod(pod *corev1.Pod) {
	c := picker.Candidate{
		Name:        pod.Name,
		Sources:     []picker.Source{picker.SourcePod},
		Unavailable: unavailable(pod),
		NotReady:    notReady(pod, a.policy.pods.Eligible),
		Node:        pod.Spec.NodeName,
		NodeLabels:  a.objects.NodeLabels(pod.Spec.NodeName),
		Labels:      pod.Labels,
		Annotations: pod.Annotations,
		Revision:    revisionOf(pod),
		Created:     pod.CreationTimestamp.Time,
	}
	if a.policy.needs.revisions {
		c.RevisionNumber = a.objects.RevisionNumber(a.policy, pod)
	}
	a.setPodVersions(&c, pod)
	a.setPodPriority(&c, pod)
	end := stopped(pod, a.policy.Spec.Failover.Container)
	if c.Unavailable == "" && !end.IsZero() {
		c.Unavailable = noContainerRuns
	}
	a.roster.add(c, instance{pod: pod, stopped: end, hosts: podHostNames(pod, c.NodeLabels)})
}

// notRunning is what a Pod's status says until the kubelet reports that its
// containers run, which takes it a second or more.
const notRunning = "Pod is not running"

// unavailable says why a Pod can not lead at all.
func unavailable(pod *corev1.Pod) string {
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		return "Pod has failed"
	case pod.Status.Phase == corev1.PodSucceeded:
		return "Pod has completed"
	case pod.DeletionTimestamp != nil:
		return "Pod is terminating"
	case pod.Status.Phase != corev1.PodRunning:
		return notRunning
	}
	return ""
}

// notReady says why the policy does not hold a Pod ready yet.
func notReady(pod *corev1.Pod, eligible v1alpha1.EligibleWhen) string {
	isReady := func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	if eligible == v1alpha1.EligibleReady && !slices.ContainsFunc(pod.Status.Conditions, isReady) {
		return "Pod is not ready"
	}
	return ""
}

func (a *assembly) setPodVersions(c *picker.Candidate, pod *corev1.Pod) {
	read := func(source *v1alpha1.VersionSource) picker.Version {
		raw, problem := readVersion(pod, source)
		if problem != "" {
			a.report(c.Name, problem)
		}
		return picker.ParseVersion(raw)
	}
	if s := a.policy.pods.Version; s != nil {
		c.BinaryVersion = read(s)
		c.EmulationVersion = c.BinaryVersion
	}
	if s := a.policy.pods.EmulationVersion; s != nil {
		c.EmulationVersion = read(s)
	}
}

func (a *assembly) setPodPriority(c *picker.Candidate, pod *corev1.Pod) {
	priority, until, problem := podPriority(pod.Annotations)
	if problem != "" {
		a.report(c.Name, problem)
	}
	if priority != 0 {
		c.Priority = priority
		c.PriorityUntil = priorityEnds(until, a.setSince(&pod.ObjectMeta, podPriorityPath), a.policy.Spec.MaxPriorityDuration.Duration)
	}
}

// setSince is when a priority was set. A time in the future can only be made up,
// and does not count.
func (a *assembly) setSince(meta *metav1.ObjectMeta, path fieldpath.Path) time.Time {
	since := setSince(meta, path)
	if since.After(a.now.Add(maxClockLead)) {
		return meta.CreationTimestamp.Time
	}
	return since
}

func (a *assembly) report(candidate, message string) {
	a.roster.problems = append(a.roster.problems, Problem{Candidate: candidate, Message: message})
}

// addLeaseCandidates adds those of client-go's coordinated electors, which are
// named like the holder identity that the elector writes
// (client-go tools/leaderelection/leasecandidate.go).
func (a *assembly) addLeaseCandidates() {
	list := a.objects.LeaseCandidates(a.lease)
	if len(list) > 1 {
		// A process that was restarted in its Pod leaves an older one behind:
		// the Pod takes its facts from the one that was renewed last.
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(x, y *coordinationv1beta1.LeaseCandidate) int {
			return renewed(y).Compare(renewed(x))
		})
	}
	for _, lc := range list {
		a.addLeaseCandidate(lc)
	}
}

func renewed(lc *coordinationv1beta1.LeaseCandidate) time.Time {
	if lc.Spec.RenewTime == nil {
		return time.Time{}
	}
	return lc.Spec.RenewTime.Time
}

func (a *assembly) addLeaseCandidate(lc *coordinationv1beta1.LeaseCandidate) {
	c := registered(&lc.ObjectMeta, picker.SourceLeaseCandidate)
	c.BinaryVersion, c.EmulationVersion = versions(lc.Spec.BinaryVersion, lc.Spec.EmulationVersion)
	if end := renewed(lc).Add(leaseCandidateValid); end.Before(a.now) {
		c.Unavailable = "LeaseCandidate was not renewed for " + leaseCandidateValid.String()
	}
	a.register(c, instance{identities: []string{lc.Name}, identity: lc.Name}, lc.Name)
}

func (a *assembly) addCandidates() {
	for _, o := range a.objects.Candidates(a.lease) {
		a.addCandidate(o)
	}
}

func (a *assembly) addCandidate(o *v1alpha1.Candidate) {
	attempt := o.Spec.Origin == v1alpha1.OriginAttempt
	ended := expired(o, a.now)
	if attempt && ended {
		return
	}
	source := picker.SourceCandidate
	if attempt {
		source = picker.SourceAttempt
	}
	c := registered(&o.ObjectMeta, source)
	c.Node, c.NodeLabels = o.Spec.Node, a.objects.NodeLabels(o.Spec.Node)
	c.BinaryVersion, c.EmulationVersion = versions(o.Spec.BinaryVersion, o.Spec.EmulationVersion)
	a.setCandidatePriority(&c, o)
	if ended {
		c.Unavailable = "registration has expired"
	}
	a.register(c, instanceOf(o), o.Spec.Identity, o.Spec.Hostname)
}

func (a *assembly) setCandidatePriority(c *picker.Candidate, o *v1alpha1.Candidate) {
	if o.Spec.Priority == nil || *o.Spec.Priority == 0 {
		return
	}
	var until time.Time
	if o.Spec.PriorityUntil != nil {
		until = o.Spec.PriorityUntil.Time
	}
	c.Priority = *o.Spec.Priority
	c.PriorityUntil = priorityEnds(until, a.setSince(&o.ObjectMeta, candidatePriorityPath), a.policy.Spec.MaxPriorityDuration.Duration)
}

// expired reports whether a registration's time to live has run out.
func expired(o *v1alpha1.Candidate, now time.Time) bool {
	end := expiry(o)
	return !end.IsZero() && !now.Before(end)
}

// expiry is when a registration ends. Zero: it does not.
func expiry(o *v1alpha1.Candidate) time.Time {
	if o.Spec.TTLSeconds == nil {
		return time.Time{}
	}
	since := o.CreationTimestamp.Time
	if o.Spec.RenewTime != nil {
		since = o.Spec.RenewTime.Time
	}
	return since.Add(time.Duration(*o.Spec.TTLSeconds) * time.Second)
}

func instanceOf(o *v1alpha1.Candidate) instance {
	n := instance{identity: o.Spec.Identity}
	if o.Spec.Identity != "" {
		n.identities = []string{o.Spec.Identity}
	}
	if o.Spec.Hostname != "" {
		n.hosts = hostNames{names: []string{o.Spec.Hostname}}
	}
	return n
}

// addAttempts adds identities that tried to acquire the Lease and are not
// registered as objects yet, and notes when each candidate last tried.
func (a *assembly) addAttempts(past memory) {
	for _, r := range past.registrations {
		a.addRegistration(r)
	}
	for i := range a.roster.candidates {
		if last, ok := past.attempt(a.roster.candidates[i].Name); ok {
			a.roster.heard(i, last)
		}
	}
}

func (a *assembly) addRegistration(r registration) {
	a.register(candidateOf(a.objects, r), instance{identities: []string{r.identity}, identity: r.identity}, r.identity)
}

// candidateOf is a candidate known by its attempts alone.
func candidateOf(objects Objects, r registration) picker.Candidate {
	return picker.Candidate{
		Name:       r.name,
		Sources:    []picker.Source{picker.SourceAttempt},
		Node:       r.node,
		NodeLabels: objects.NodeLabels(r.node),
		Created:    r.since,
	}
}

// registered is a candidate that an object other than a Pod registers.
func registered(meta *metav1.ObjectMeta, source picker.Source) picker.Candidate {
	return picker.Candidate{
		Name:        meta.Name,
		Sources:     []picker.Source{source},
		Labels:      meta.Labels,
		Annotations: meta.Annotations,
		Created:     meta.CreationTimestamp.Time,
	}
}

// versions reads the versions of a registration. One that gives none has the
// zero Version, so that another source may fill it in.
func versions(binary, emulation string) (b, e picker.Version) {
	if binary != "" {
		b = picker.ParseVersion(binary)
		e = b
	}
	if emulation != "" {
		e = picker.ParseVersion(emulation)
	}
	return b, e
}

// register adds a candidate, or merges it with the one that a claim fits.
func (a *assembly) register(c picker.Candidate, n instance, claims ...string) {
	for _, claim := range claims {
		if i, ok := a.roster.one(claim); ok {
			a.merge(i, c, n)
			return
		}
	}
	a.roster.add(c, n)
}

// merge adds what another source knows of candidate i. The facts of the more
// trusted source, which came first, win.
func (a *assembly) merge(i int, c picker.Candidate, n instance) {
	to, known := &a.roster.candidates[i], &a.roster.instances[i]
	if !slices.Contains(to.Sources, c.Sources[0]) {
		to.Sources = append(to.Sources, c.Sources[0])
	}
	a.mergeVersions(to, &c, known)
	if known.pod == nil && c.Unavailable == "" {
		// One sign of life is enough, where no kubelet says otherwise.
		to.Unavailable = ""
	}
	if to.Priority == 0 {
		to.Priority, to.PriorityUntil = c.Priority, c.PriorityUntil
	}
	if to.Node == "" {
		to.Node, to.NodeLabels = c.Node, c.NodeLabels
	}
	if known.pod != nil {
		// Whoever may write registrations must not have somebody else taken for
		// the Pod.
		return
	}
	a.roster.recognise(i, &n)
	if known.identity == "" {
		known.identity = n.identity
	}
}

// mergeVersions fills in versions. A Pod whose policy says where its version
// stands has that one or none.
func (a *assembly) mergeVersions(to, from *picker.Candidate, known *instance) {
	none := picker.Version{}
	if to.BinaryVersion == none && (known.pod == nil || a.policy.pods.Version == nil) {
		to.BinaryVersion = from.BinaryVersion
	}
	if to.EmulationVersion == none && (known.pod == nil || a.policy.pods.Version == nil && a.policy.pods.EmulationVersion == nil) {
		to.EmulationVersion = from.EmulationVersion
	}
}
