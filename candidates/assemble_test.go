package candidates

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

func fromImageTag(container string) func(*v1alpha1.ElectionPolicySpec) {
	return func(s *v1alpha1.ElectionPolicySpec) {
		s.Candidates.Pods.Version = &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{Container: container}}
	}
}

func fromLabel(key string) func(*v1alpha1.ElectionPolicySpec) {
	return func(s *v1alpha1.ElectionPolicySpec) {
		s.Candidates.Pods.Version = &v1alpha1.VersionSource{FromLabel: key}
	}
}

func TestUnavailable(t *testing.T) {
	unready := func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
	phase := func(ph corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = ph } }
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = ptr(metav1.NewTime(start)) }
	tests := []struct {
		name     string
		eligible v1alpha1.EligibleWhen
		mutate   []func(*corev1.Pod)
		want     string
		notReady string
	}{
		{"running", "", nil, "", ""},
		{"running, not ready", v1alpha1.EligibleRunning, []func(*corev1.Pod){unready}, "", ""},
		{"must be ready", v1alpha1.EligibleReady, []func(*corev1.Pod){unready}, "", "Pod is not ready"},
		{"is ready", v1alpha1.EligibleReady, nil, "", ""},
		{"pending", "", []func(*corev1.Pod){phase(corev1.PodPending)}, "Pod is not running", ""},
		{"failed", "", []func(*corev1.Pod){phase(corev1.PodFailed), deleted}, "Pod has failed", ""},
		{"succeeded", "", []func(*corev1.Pod){phase(corev1.PodSucceeded)}, "Pod has completed", ""},
		{"terminating", "", []func(*corev1.Pod){deleted}, "Pod is terminating", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			v := viewOf(t, webPod("web-1", tc.mutate...), electionPolicy("p", func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Pods.Eligible = tc.eligible }))
			NewWithT(t).Expect(v.State.Candidates[0].Unavailable).To(Equal(tc.want))
			NewWithT(t).Expect(v.State.Candidates[0].NotReady).To(Equal(tc.notReady))
		})
	}
}

// The kubelet reports a Pod a second or more after it runs.
func TestHolderThatIsNotReportedToRunYet(t *testing.T) {
	made := func(at time.Time) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Phase, p.CreationTimestamp = corev1.PodPending, metav1.NewTime(at) }
	}
	tests := map[string]struct {
		pod         *corev1.Pod
		holder      string
		unavailable string
	}{
		"it holds the Lease":          {webPod("web-1", made(start)), "web-1_a", ""},
		"an earlier namesake does":    {webPod("web-1", made(start.Add(time.Second))), "web-1_a", notRunning},
		"another one does":            {webPod("web-1", made(start)), "web-2_a", notRunning},
		"nobody does":                 {webPod("web-1", made(start)), "", notRunning},
		"it has failed as a holder":   {webPod("web-1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), "web-1_a", "Pod has failed"},
		"the Lease names no hostname": {webPod("web-1", made(start)), "_", notRunning},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := viewOf(t, electionPolicy("p"), test.pod, lease(test.holder))
			NewWithT(t).Expect(v.State.Candidates).To(HaveExactElements(HaveField("Unavailable", test.unavailable)))
		})
	}
}

func TestImageTag(t *testing.T) {
	digest := "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string]string{
		"web":                                  "latest",
		"web:v1.2.3":                           "v1.2.3",
		"registry:5000/web":                    "latest",
		"registry:5000/team/web:1.2":           "1.2",
		"registry.k8s.io/kube-scheduler:v1.37": "v1.37",
		"web:v1@" + digest:                     "v1",
		"registry:5000/web@" + digest:          digest,
		"[::1]:5000/web:v2":                    "v2",
		"":                                     "latest",
	} {
		if got := imageTag(image); got != want {
			t.Errorf("imageTag(%q) = %q, want %q", image, got, want)
		}
	}
}

func TestPodVersion(t *testing.T) {
	two := func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "proxy", Image: "proxy:v9"})
	}
	tests := []struct {
		name     string
		policy   func(*v1alpha1.ElectionPolicySpec)
		pod      func(*corev1.Pod)
		want     string
		problems []Problem
	}{
		{"image tag of the only container", fromImageTag(""), nil, "v1.2.3", nil},
		{"image tag of a named container", fromImageTag("proxy"), two, "v9", nil},
		{"which of two containers", fromImageTag(""), two, "", []Problem{{"web-1", "has 2 containers, so that the policy must name the one whose image tag is the version"}}},
		{"no such container", fromImageTag("x"), nil, "", []Problem{{"web-1", "has no container x to read its version from"}}},
		{"label", fromLabel("version"), func(p *corev1.Pod) { p.Labels["version"] = "1.5.0" }, "1.5.0", nil},
		{"no label", fromLabel("version"), nil, "", []Problem{{"web-1", "has no label version to read its version from"}}},
		{"annotation", func(s *v1alpha1.ElectionPolicySpec) {
			s.Candidates.Pods.Version = &v1alpha1.VersionSource{FromAnnotation: "version"}
		}, func(p *corev1.Pod) { p.Annotations = map[string]string{"version": "1.6.0"} }, "1.6.0", nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			pod := webPod("web-1")
			if tc.pod != nil {
				tc.pod(pod)
			}
			v := viewOf(t, pod, electionPolicy("p", tc.policy))
			c := v.State.Candidates[0]
			g.Expect(c.BinaryVersion).To(Equal(picker.ParseVersion(tc.want)))
			g.Expect(c.EmulationVersion).To(Equal(c.BinaryVersion), "the emulation version defaults to the binary version")
			g.Expect(v.Problems).To(Equal(tc.problems))
		})
	}
}

func TestEmulationVersionOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	v := viewOf(t, webPod("web-1", func(p *corev1.Pod) { p.Annotations = map[string]string{"emulation": "1.1"} }),
		electionPolicy("p", fromImageTag(""), func(s *v1alpha1.ElectionPolicySpec) {
			s.Candidates.Pods.EmulationVersion = &v1alpha1.VersionSource{FromAnnotation: "emulation"}
		}))
	g.Expect(v.State.Candidates[0].BinaryVersion.String()).To(Equal("v1.2.3"))
	g.Expect(v.State.Candidates[0].EmulationVersion.String()).To(Equal("1.1"))
}

// An instance that several sources know is one candidate.
func TestMerge(t *testing.T) {
	identity := func(id string) func(*v1alpha1.CandidateSpec) {
		return func(c *v1alpha1.CandidateSpec) { c.Identity = id }
	}
	type facts struct {
		Name    string
		Sources []picker.Source
		Version string
	}
	const pod, lc, cand, att = picker.SourcePod, picker.SourceLeaseCandidate, picker.SourceCandidate, picker.SourceAttempt
	tests := []struct {
		name    string
		policy  func(*v1alpha1.ElectionPolicySpec)
		objects []runtime.Object
		want    []facts
	}{
		{"Pod and LeaseCandidate", nil, []runtime.Object{webPod("web-1"), leaseCandidate("web-1_a", "1.37.0", "1.36.0")},
			[]facts{{"web-1", []picker.Source{pod, lc}, "1.37.0"}}},
		{"the Pod's version wins", fromImageTag(""), []runtime.Object{webPod("web-1"), leaseCandidate("web-1_a", "1.37.0", "1.36.0")},
			[]facts{{"web-1", []picker.Source{pod, lc}, "v1.2.3"}}},
		{"even one that is none", fromLabel("version"), []runtime.Object{webPod("web-1"), leaseCandidate("web-1_a", "1.37.0", "1.36.0")},
			[]facts{{"web-1", []picker.Source{pod, lc}, ""}}},
		{"Pod and Candidate by hostname", nil, []runtime.Object{webPod("web-1"), candidate("c", func(c *v1alpha1.CandidateSpec) {
			c.Identity, c.Hostname, c.BinaryVersion = "odd", "web-1", "1.5"
		})}, []facts{{"web-1", []picker.Source{pod, cand}, "1.5"}}},
		{"Pod and an earlier attempt", nil, []runtime.Object{webPod("web-1"), candidate("c", identity("web-1_b"), func(c *v1alpha1.CandidateSpec) {
			c.Origin = v1alpha1.OriginAttempt
		})}, []facts{{"web-1", []picker.Source{pod, att}, ""}}},
		{"LeaseCandidate and Candidate", nil, []runtime.Object{leaseCandidate("vm_1", "1.37.0", ""), candidate("c", identity("vm_1"))},
			[]facts{{"vm_1", []picker.Source{lc, cand}, "1.37.0"}}},
		{"the LeaseCandidate of a restarted process", nil, []runtime.Object{webPod("web-1"),
			leaseCandidate("web-1_a", "1.36.0", ""),
			func() runtime.Object {
				o := leaseCandidate("web-1_b", "1.37.0", "")
				o.Spec.RenewTime = ptr(metav1.NewMicroTime(start.Add(time.Second)))
				return o
			}(),
		}, []facts{{"web-1", []picker.Source{pod, lc}, "1.37.0"}}},
		{"different ones", nil, []runtime.Object{webPod("web-1"), leaseCandidate("web-10_a", "1.37.0", ""), candidate("c", identity("web-1x"))},
			[]facts{{"web-1", []picker.Source{pod}, ""}, {"web-10_a", []picker.Source{lc}, "1.37.0"}, {"c", []picker.Source{cand}, ""}}},
		{"one name for two", nil, []runtime.Object{webPod("web-1"), candidate("web-1", identity("vm"))},
			[]facts{{"web-1", []picker.Source{pod}, ""}, {"Candidate/web-1", []picker.Source{cand}, ""}}},
		{"of another Lease", nil, []runtime.Object{candidate("c", func(c *v1alpha1.CandidateSpec) { c.LeaseName, c.Identity = "other", "vm" })}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := electionPolicy("p")
			if tc.policy != nil {
				tc.policy(&p.Spec)
			}
			v := viewOf(t, append(tc.objects, p)...)
			var got []facts
			for _, c := range v.State.Candidates {
				got = append(got, facts{c.Name, c.Sources, c.BinaryVersion.String()})
			}
			NewWithT(t).Expect(got).To(Equal(tc.want))
		})
	}
}

func TestMergedIdentitiesAreTheCandidates(t *testing.T) {
	g := NewWithT(t)
	v := viewOf(t, electionPolicy("p"), leaseCandidate("vm_1", "1.37.0", ""),
		candidate("c", func(c *v1alpha1.CandidateSpec) { c.Identity, c.Hostname = "vm_1", "vm.example" }))
	g.Expect(v.Identify("vm.example_2", nil).Candidate).To(Equal("vm_1"))
}

// A registration that anybody may write must not have others taken for a Pod,
// nor a Pod for another one.
func TestRegistrationsDoNotExtendPods(t *testing.T) {
	g := NewWithT(t)
	register := func(identity, hostname string) runtime.Object {
		return candidate("c", func(c *v1alpha1.CandidateSpec) { c.Identity, c.Hostname = identity, hostname })
	}
	v := viewOf(t, webPod("web-1"), electionPolicy("p"), register("odd", "web-1"))
	g.Expect(v.Identify("odd", nil).Problem).To(Equal(notRegistered))
	g.Expect(v.Identify("odd", ptr(boundTo("ns", "web-1", "uid-web-1"))).Proved).To(BeTrue(), "the Pod itself may say what it likes")

	v = viewOf(t, webPod("web-1"), webPod("web-2"), electionPolicy("p"), register("web-1_x", "web-2"))
	g.Expect(v.Identify("web-2_y", nil).Candidate).To(Equal("web-2"))
	g.Expect(v.Identify("web-1_x", nil).Candidate).To(Equal("web-1"))

	host := hostNetwork("node-1")
	v = viewOf(t, webPod("host-a", host), webPod("host-b", host), electionPolicy("p"), register("node-1_x", ""))
	g.Expect(v.Identify("node-1_x", ptr(boundTo("ns", "host-b", "uid-host-b")))).To(Equal(Identification{Candidate: "host-b", Proved: true}))
}

func TestRegistrationsExpire(t *testing.T) {
	live := func(c *v1alpha1.CandidateSpec) {
		c.Identity, c.TTLSeconds, c.RenewTime = "vm", ptr(int32(10)), ptr(metav1.NewMicroTime(start.Add(-9*time.Second)))
	}
	dead := func(c *v1alpha1.CandidateSpec) {
		c.Identity, c.TTLSeconds, c.RenewTime = "vm", ptr(int32(10)), ptr(metav1.NewMicroTime(start.Add(-10*time.Second)))
	}
	attempt := func(c *v1alpha1.CandidateSpec) { c.Origin = v1alpha1.OriginAttempt }
	g := NewWithT(t)
	g.Expect(viewOf(t, electionPolicy("p"), candidate("c", live)).State.Candidates[0].Unavailable).To(BeEmpty())
	g.Expect(viewOf(t, electionPolicy("p"), candidate("c", dead)).State.Candidates[0].Unavailable).To(Equal("registration has expired"))
	g.Expect(viewOf(t, electionPolicy("p"), candidate("c", dead, attempt)).State.Candidates).To(BeEmpty())

	old := leaseCandidate("vm_1", "1.37.0", "")
	old.Spec.RenewTime = ptr(metav1.NewMicroTime(start.Add(-31 * time.Minute)))
	g.Expect(viewOf(t, electionPolicy("p"), old).State.Candidates[0].Unavailable).To(Equal("LeaseCandidate was not renewed for 30m0s"))
	g.Expect(viewOf(t, electionPolicy("p"), old, webPod("vm")).State.Candidates[0].Unavailable).To(BeEmpty(), "the Pod runs")
	g.Expect(viewOf(t, electionPolicy("p"), old, candidate("c", func(c *v1alpha1.CandidateSpec) { c.Identity = "vm_1" })).
		State.Candidates[0].Unavailable).To(BeEmpty(), "the registration stands")
}

func TestLeaseNameOfPods(t *testing.T) {
	g := NewWithT(t)
	of := func(lease string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels["component"] = lease }
	}
	v := viewOf(t, webPod("a", of("web")), webPod("b", of("other")), webPod("c"),
		electionPolicy("p", leaseNames("web", "other"), func(s *v1alpha1.ElectionPolicySpec) {
			s.Candidates.Pods.LeaseName = &v1alpha1.FieldSource{FromLabel: "component"}
		}))
	g.Expect(v.State.Candidates).To(HaveLen(1))
	g.Expect(v.State.Candidates[0].Name).To(Equal("a"))
}

func TestPriority(t *testing.T) {
	annotate := func(kv ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Annotations = map[string]string{}
			for i := 0; i < len(kv); i += 2 {
				p.Annotations[kv[i]] = kv[i+1]
			}
		}
	}
	setAt := func(at time.Time) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.ManagedFields = []metav1.ManagedFieldsEntry{
				{Manager: "kubectl-annotate", Time: ptr(metav1.NewTime(at)), FieldsV1: &metav1.FieldsV1{Raw: []byte(priorityOwned)}},
				{Manager: "kubelet", Time: ptr(metav1.NewTime(at.Add(time.Hour))), FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:phase":{}}}`)}},
			}
		}
	}
	const key, untilKey = v1alpha1.PriorityAnnotation, v1alpha1.PriorityUntilAnnotation
	tests := []struct {
		name     string
		pod      []func(*corev1.Pod)
		priority int32
		until    time.Time
		problems int
	}{
		{"none", nil, 0, time.Time{}, 0},
		{"limited from the Pod's creation", []func(*corev1.Pod){annotate(key, "5")}, 5, start.Add(24 * time.Hour), 0},
		{"limited from when it was set", []func(*corev1.Pod){annotate(key, "5"), setAt(start.Add(-time.Hour))}, 5, start.Add(23 * time.Hour), 0},
		{"set in the future", []func(*corev1.Pod){annotate(key, "5"), setAt(start.Add(1000 * time.Hour))}, 5, start.Add(24 * time.Hour), 0},
		{"until sooner", []func(*corev1.Pod){annotate(key, "5", untilKey, "2026-01-02T04:00:00Z")}, 5, time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC), 0},
		{"until later than allowed", []func(*corev1.Pod){annotate(key, "5", untilKey, "2036-01-02T04:00:00Z")}, 5, start.Add(24 * time.Hour), 0},
		{"not a number", []func(*corev1.Pod){annotate(key, "high")}, 0, time.Time{}, 1},
		{"too large", []func(*corev1.Pod){annotate(key, "2147483648")}, 0, time.Time{}, 1},
		{"until unreadable", []func(*corev1.Pod){annotate(key, "5", untilKey, "tomorrow")}, 0, time.Time{}, 1},
		{"negative", []func(*corev1.Pod){annotate(key, "-1")}, -1, start.Add(24 * time.Hour), 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			v := viewOf(t, webPod("web-1", tc.pod...), electionPolicy("p"))
			c := v.State.Candidates[0]
			g.Expect(c.Priority).To(Equal(tc.priority))
			g.Expect(c.PriorityUntil).To(BeTemporally("==", tc.until))
			g.Expect(v.Problems).To(HaveLen(tc.problems))

			trimmed := viewOf(t, trimPod(webPod("web-1", tc.pod...)), electionPolicy("p"))
			g.Expect(trimmed.State.Candidates[0].PriorityUntil).To(BeTemporally("==", tc.until), "trimming keeps when it was set")
		})
	}
}

func TestCandidatePriority(t *testing.T) {
	g := NewWithT(t)
	v := viewOf(t, electionPolicy("p"), candidate("c", func(c *v1alpha1.CandidateSpec) {
		c.Identity, c.Priority, c.PriorityUntil = "vm", ptr(int32(7)), ptr(metav1.NewTime(start.Add(time.Minute)))
	}))
	g.Expect(v.State.Candidates[0].Priority).To(Equal(int32(7)))
	g.Expect(v.State.Candidates[0].PriorityUntil).To(BeTemporally("==", start.Add(time.Minute)))
}

func rolloutAware(s *v1alpha1.ElectionPolicySpec) { s.Strategy.Name = v1alpha1.RolloutAware }

func TestRevisions(t *testing.T) {
	owned := func(kind, uid string, labels ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, UID: types.UID(uid), Controller: ptr(true)}}
			p.Labels[labels[0]] = labels[1]
		}
	}
	later := func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(start.Add(time.Hour)) }
	replicaSet := func(uid, revision string) runtime.Object {
		return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: uid, UID: types.UID(uid), Annotations: map[string]string{revisionAnnotation: revision}}}
	}
	controllerRevision := func(name, owner string, n int64, labels map[string]string) runtime.Object {
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{UID: types.UID(owner), Controller: ptr(true)}}}, Revision: n}
	}
	numbers := func(objects ...runtime.Object) map[string]int64 {
		got := map[string]int64{}
		for _, c := range viewOf(t, append(objects, electionPolicy("p", rolloutAware))...).State.Candidates {
			got[c.Name] = c.RevisionNumber
		}
		return got
	}
	g := NewWithT(t)
	template, hash := appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey
	g.Expect(numbers(webPod("a", owned("ReplicaSet", "rs1", template, "h1"), later), webPod("b", owned("ReplicaSet", "rs2", template, "h2")),
		replicaSet("rs1", "7"), replicaSet("rs2", "8"))).To(Equal(map[string]int64{"a": 7, "b": 8}), "Deployment")
	g.Expect(numbers(webPod("a", owned("StatefulSet", "s", hash, "web-aa")), webPod("b", owned("StatefulSet", "s", hash, "web-bb")),
		controllerRevision("web-aa", "s", 3, nil), controllerRevision("web-bb", "s", 2, nil))).To(Equal(map[string]int64{"a": 3, "b": 2}), "StatefulSet")
	g.Expect(numbers(webPod("a", owned("DaemonSet", "d", hash, "aa")), webPod("b", owned("DaemonSet", "d", hash, "bb")),
		controllerRevision("web-aa", "d", 3, map[string]string{hash: "aa"}), controllerRevision("web-bb", "d", 4, map[string]string{hash: "bb"}))).
		To(Equal(map[string]int64{"a": 3, "b": 4}), "DaemonSet")
	g.Expect(numbers(webPod("a", owned("ReplicaSet", "rs1", template, "h1"), later), webPod("b", owned("ReplicaSet", "rs2", template, "h2")),
		webPod("c", owned("ReplicaSet", "rs1", template, "h1")), replicaSet("rs2", "8"))).
		To(Equal(map[string]int64{"a": 2, "b": 1, "c": 2}), "one is not known: by the age of the newest Pod")
}

func TestNodeFacts(t *testing.T) {
	g := NewWithT(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{corev1.LabelTopologyZone: "a"}}}
	v := viewOf(t, webPod("web-1"), node, electionPolicy("p"))
	g.Expect(v.State.Candidates[0].Node).To(Equal("node-1"))
	g.Expect(v.State.Candidates[0].NodeLabels).To(HaveKeyWithValue(corev1.LabelTopologyZone, "a"))
}

func TestLeaseFacts(t *testing.T) {
	g := NewWithT(t)
	held := viewOf(t, webPod("web-1"), electionPolicy("p"), lease("web-1_a")).State.Lease
	g.Expect(held.Holder).To(Equal("web-1"))
	g.Expect(held.Duration).To(Equal(15 * time.Second))

	gone := lease("web-1_a")
	gone.Spec.RenewTime = ptr(metav1.NewMicroTime(start.Add(-time.Minute)))
	over := viewOf(t, webPod("web-1"), electionPolicy("p"), gone).State.Lease
	g.Expect(over.Holder).To(BeEmpty())
	g.Expect(over.LastHolder).To(Equal("web-1"))

	freed := lease("")
	freed.Spec.LeaseDurationSeconds = ptr(int32(1))
	election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Status: v1alpha1.ElectionStatus{Terms: []v1alpha1.Term{{Holder: "web-1"}, {Holder: "web-2"}}}}
	vacant := viewOf(t, webPod("web-1"), electionPolicy("p"), freed, election).State.Lease
	g.Expect(vacant.LastHolder).To(Equal("web-1"), "as the Election remembers")
	g.Expect(vacant.Duration).To(BeZero(), "a release says nothing of the next term")
}

func TestHeldByNodeFromLeases(t *testing.T) {
	g := NewWithT(t)
	other := lease("web-2_x")
	other.Name = "other"
	v := viewOf(t, webPod("web-1"), webPod("web-2", func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }), other, lease("web-1_a"),
		electionPolicy("p", leaseNames("*"), func(s *v1alpha1.ElectionPolicySpec) { s.Strategy.Name = v1alpha1.Spread }))
	g.Expect(v.State.Lease.HeldByNode).To(Equal(map[string]int{"node-2": 1}))
}

func TestObjectSet(t *testing.T) {
	g := NewWithT(t)
	alpha := &coordinationv1alpha2.LeaseCandidate{ObjectMeta: metav1.ObjectMeta{Name: "vm_1"},
		Spec: coordinationv1alpha2.LeaseCandidateSpec{LeaseName: "web", BinaryVersion: "1.31.0"}}
	p := electionPolicy("p", leaseNames("web", "w*"))
	p.Namespace = ""
	s := setOf(t, p, alpha)
	g.Expect(s.Add(&corev1.Secret{})).To(BeFalse())
	key := types.NamespacedName{Namespace: "default", Name: "web"}
	g.Expect(s.Leases()).To(Equal([]types.NamespacedName{key}))
	v := Assemble(s, s.Governing(key), key, nil, start)
	g.Expect(v.State.Candidates).To(HaveLen(1))
	g.Expect(v.State.Candidates[0].EmulationVersion.String()).To(Equal("1.31.0"))
}

func TestWouldLead(t *testing.T) {
	over := metav1.NewTime(start)
	election := func(s *v1alpha1.DryRunStatus) *v1alpha1.Election {
		return &v1alpha1.Election{Status: v1alpha1.ElectionStatus{DryRun: s}}
	}
	for name, test := range map[string]struct {
		election *v1alpha1.Election
		lease    picker.Lease
		want     string
	}{
		"no Election":       {nil, picker.Lease{Holder: "a"}, ""},
		"no dry-run":        {election(nil), picker.Lease{Holder: "a"}, ""},
		"one that is over":  {election(&v1alpha1.DryRunStatus{Leader: "b", Until: &over}), picker.Lease{Holder: "a"}, ""},
		"nobody would":      {election(&v1alpha1.DryRunStatus{}), picker.Lease{Holder: "a"}, ""},
		"who does":          {election(&v1alpha1.DryRunStatus{Leader: "a"}), picker.Lease{Holder: "a"}, ""},
		"who did last":      {election(&v1alpha1.DryRunStatus{Leader: "a"}), picker.Lease{LastHolder: "a"}, ""},
		"another":           {election(&v1alpha1.DryRunStatus{Leader: "b"}), picker.Lease{Holder: "a"}, "b"},
		"another than last": {election(&v1alpha1.DryRunStatus{Leader: "b"}), picker.Lease{LastHolder: "a"}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(wouldLead(test.election, &test.lease)).To(Equal(test.want))
		})
	}
}
