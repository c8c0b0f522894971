package terms

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// situationAt is that of ns/lease among these objects. Its term began when the
// Lease was acquired.
func situationAt(t *testing.T, now float64, lease *coordinationv1.Lease, objects ...runtime.Object) *situation {
	t.Helper()
	set := candidates.NewObjectSet()
	for _, o := range objects {
		set.Add(o)
	}
	g := set.Governing(leaseKey)
	if g.Policy == nil {
		t.Fatalf("no policy governs the lease: %v", set.Policies()[0].Errors)
	}
	view := candidates.Assemble(set, g, leaseKey, lease, at(now))
	decision := picker.Decide(view.Policy, &view.State)
	s := &situation{
		lease: lease, policy: view.Policy, spec: view.Spec, mode: view.Policy.Mode, decision: &decision,
		pods: view.HolderPods(holderIdentity(lease)), trial: &trial{}, rally: &rally{}, now: at(now),
	}
	if holder := holderIdentity(lease); holder != "" {
		s.holder = holderName(view, &decision, holder)
		s.term = &v1alpha1.Term{Holder: s.holder, Identity: holder, Start: metav1.NewTime(at(0))}
	}
	if decision.Chosen != nil {
		s.replacement = view.Identity(decision.Chosen.Name)
	}
	return s
}

// preempting is a policy that prefers old versions, with a minTerm of 60 s and a
// cooldown of 30 s.
func preempting(when v1alpha1.PreemptWhen, change ...func(*v1alpha1.ElectionPolicySpec)) *v1alpha1.ElectionPolicy {
	p := policyOf("p", v1alpha1.OldestEmulationVersion)
	p.Spec.Preemption = v1alpha1.Preemption{
		When: when, MinTerm: &metav1.Duration{Duration: time.Minute}, Cooldown: &metav1.Duration{Duration: 30 * time.Second},
	}
	for _, c := range change {
		c(&p.Spec)
	}
	return p
}

func byEviction(s *v1alpha1.ElectionPolicySpec) { s.Preemption.Method = v1alpha1.Evict }

// toldTo has an order to step down on the Lease.
func toldTo(lease *coordinationv1.Lease, identity string) *coordinationv1.Lease {
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.StepDownAnnotation, identity)
	return lease
}

func coordinated(lease *coordinationv1.Lease, strategy, preferred string) *coordinationv1.Lease {
	s := coordinationv1.CoordinatedLeaseStrategy(strategy)
	lease.Spec.Strategy = &s
	if preferred != "" {
		lease.Spec.PreferredHolder = &preferred
	}
	return lease
}

// election is what a person wants of ns/lease.
func election(spec v1alpha1.ElectionSpec) *v1alpha1.Election {
	return &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease"}, Spec: spec}
}

// steppingSince is the condition SteppingDown as it was published.
func steppingSince(seconds float64, holds bool, reason string) *metav1.Condition {
	c := condition(v1alpha1.ConditionSteppingDown, holds, reason, reason)
	c.LastTransitionTime = metav1.NewTime(at(seconds))
	return &c
}

func ending(pod *corev1.Pod) *corev1.Pod { return endingBy(pod, 0) }

// endingBy is a Pod whose grace period ends then.
func endingBy(pod *corev1.Pod, end float64) *corev1.Pod {
	deleted := metav1.NewTime(at(end))
	pod.DeletionTimestamp = &deleted
	return pod
}

// revised is a Pod of a Deployment's revision.
func revised(pod *corev1.Pod, hash string, created float64) *corev1.Pod {
	pod.Labels["pod-template-hash"] = hash
	pod.CreationTimestamp = metav1.NewTime(at(created))
	return pod
}

func pending(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = corev1.PodPending
	return pod
}

// onNode is a Pod on the network of the node "node".
func onNode(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.HostNetwork, pod.Spec.NodeName = true, "node"
	return pod
}

func TestPlan(t *testing.T) {
	older, newer := podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
	better, never := preempting(v1alpha1.PreemptForBetter), preempting(v1alpha1.PreemptNever)
	byNew := func() *coordinationv1.Lease { return held("new_1", 0, 95) }
	stepping := func() *coordinationv1.Lease { return toldTo(byNew(), "new_1") }
	dead := containerOf("main", ran("1", -10, 96))
	crashed := podOf("new", "v1.37.0")
	crashed.Spec.Containers, crashed.Status.ContainerStatuses = []corev1.Container{{Name: "main"}}, []corev1.ContainerStatus{dead}
	static := podOf("new", "v1.37.0")
	static.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	mode := func(m v1alpha1.Mode) *v1alpha1.ElectionPolicy {
		return preempting(v1alpha1.PreemptForBetter, func(s *v1alpha1.ElectionPolicySpec) { s.Mode = m })
	}
	leaveDead := preempting(v1alpha1.PreemptNever, func(s *v1alpha1.ElectionPolicySpec) { no := false; s.Failover.ReleaseOnTermination = &no })
	evicting := preempting(v1alpha1.PreemptForBetter, byEviction)
	paused, pinned := election(v1alpha1.ElectionSpec{Paused: true}), election(v1alpha1.ElectionSpec{Pin: "old"})
	newest := func(when v1alpha1.PreemptWhen) *v1alpha1.ElectionPolicy {
		return preempting(when, func(s *v1alpha1.ElectionPolicySpec) { s.Strategy.Name = v1alpha1.RolloutAware })
	}
	afterRollout := newest(v1alpha1.PreemptAfterRollout)
	by1 := func() *coordinationv1.Lease { return held("a-1", 0, 95) }

	tests := []struct {
		name    string
		now     float64 // 0: 100
		lease   *coordinationv1.Lease
		objects []runtime.Object
		change  func(*situation)
		action  Action
		// reason and holds are those of the condition afterwards.
		reason string
		holds  bool
		again  float64 // 0: no time
		note   string
	}{
		// Beginning.
		{name: "a better one", lease: byNew(), objects: []runtime.Object{better, older, newer}, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true,
			note: "new was told to step down: old is chosen by OldestEmulationVersion"},
		{name: "nobody is preempted", lease: byNew(), objects: []runtime.Object{never, older, newer}, reason: reasonNotSteppingDown},
		{name: "the chosen one leads", lease: held("old_1", 0, 95), objects: []runtime.Object{better, older, newer}, reason: reasonNotSteppingDown},
		{name: "nobody leads", lease: held("", 0, 95), objects: []runtime.Object{better, older, newer}, reason: reasonNotSteppingDown},
		{name: "the term has run out", lease: byNew(), objects: []runtime.Object{better, older, newer}, change: func(s *situation) { s.term = nil }, reason: reasonNotSteppingDown},
		{name: "a stranger leads", lease: held("stranger", 0, 95), objects: []runtime.Object{better, older, newer}, reason: reasonNotSteppingDown},
		{name: "nobody is better, just older", lease: byNew(), objects: []runtime.Object{better, podOf("a", "v1.37.0"), newer}, reason: reasonNotSteppingDown},
		{name: "the better one is ending", lease: byNew(), objects: []runtime.Object{better, ending(podOf("old", "v1.36.0")), newer}, reason: reasonNotSteppingDown},
		{name: "the holder is ending", lease: byNew(), objects: []runtime.Object{better, older, ending(podOf("new", "v1.37.0"))}, reason: reasonNotSteppingDown},
		{name: "too early in the term", now: 20, lease: held("new_1", 0, 15), objects: []runtime.Object{better, older, newer}, reason: reasonNotSteppingDown, again: 60},
		{name: "the end of minTerm", now: 60, lease: held("new_1", 0, 55), objects: []runtime.Object{better, older, newer}, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true},
		{name: "too soon after the last one", lease: byNew(), objects: []runtime.Object{better, older, newer},
			change: func(s *situation) { s.stepping = steppingSince(80, false, reasonTakenBack) }, reason: reasonTakenBack, again: 110},
		{name: "too soon after the last one that we remember", lease: byNew(), objects: []runtime.Object{better, older, newer},
			change: func(s *situation) { s.lastMove = at(90) }, reason: reasonNotSteppingDown, again: 120},
		{name: "the better one did not take it last time", lease: byNew(), objects: []runtime.Object{better, older, newer},
			change: func(s *situation) { s.lastMove, s.trial = at(10), &trial{failed: "old", failures: 1} }, reason: reasonNotSteppingDown, again: 310},
		{name: "another one did not take it last time", lease: byNew(), objects: []runtime.Object{better, older, newer},
			change: func(s *situation) { s.lastMove, s.trial = at(10), &trial{failed: "other", failures: 1} }, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true},
		{name: "cooled down", lease: byNew(), objects: []runtime.Object{better, older, newer},
			change: func(s *situation) { s.stepping, s.lastMove = steppingSince(70, false, reasonSteppedDown), at(69) }, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true},
		{name: "nobody was ever told: no cooldown", lease: byNew(), objects: []runtime.Object{better, older, newer},
			change: func(s *situation) { s.stepping = steppingSince(99, false, reasonNotSteppingDown) }, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true},
		{name: "another Lease is being moved", lease: byNew(), objects: []runtime.Object{better, older, newer},
			change: func(s *situation) { s.othersMove = true }, reason: reasonNotSteppingDown, again: 101},
		{name: "dry run", lease: byNew(), objects: []runtime.Object{mode(v1alpha1.DryRun), older, newer}, reason: reasonNotSteppingDown},

		// By hand.
		{name: "pinned", now: 1, lease: held("new_1", 0, 0), objects: []runtime.Object{never, older, newer, pinned},
			change: func(s *situation) { s.stepping, s.othersMove = steppingSince(0, false, reasonTakenBack), true }, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true,
			note: "new was told to step down: old is chosen by Pinned"},
		{name: "pinned, and held by a stranger", lease: held("stranger", 0, 95), objects: []runtime.Object{never, older, pinned}, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true,
			note: "stranger was told to step down: old is chosen by Pinned"},
		{name: "pinned, and nobody leads", lease: held("", 0, 95), objects: []runtime.Object{never, older, pinned}, reason: reasonNotSteppingDown},
		{name: "pinned, and may be held there", lease: held("node", 0, 95), objects: []runtime.Object{never, onNode(podOf("old", "v1.36.0")), onNode(podOf("other", "v1.36.0")), pinned}, reason: reasonNotSteppingDown},
		{name: "pinned, in dry run", lease: byNew(), objects: []runtime.Object{mode(v1alpha1.DryRun), older, newer, pinned}, reason: reasonNotSteppingDown},
		{name: "pinned by eviction", lease: byNew(), objects: []runtime.Object{preempting(v1alpha1.PreemptNever, byEviction), older, newer, pinned}, action: ActionEvict, reason: reasonEvicting, holds: true},
		{name: "paused", lease: byNew(), objects: []runtime.Object{better, older, newer, paused}, reason: reasonNotSteppingDown},
		{name: "paused, and the holder is dead", lease: byNew(), objects: []runtime.Object{better, older, crashed, paused}, reason: reasonNotSteppingDown},

		// Going on.
		{name: "told, and still so", lease: stepping(), objects: []runtime.Object{better, older, newer}, reason: reasonDenyingRenewals, holds: true},
		{name: "told, and the term has run out", lease: stepping(), objects: []runtime.Object{better, older, newer}, change: func(s *situation) { s.term = nil }, reason: reasonDenyingRenewals, holds: true},
		{name: "told, while another Lease is moved", lease: stepping(), objects: []runtime.Object{better, older, newer}, change: func(s *situation) { s.othersMove = true }, reason: reasonDenyingRenewals, holds: true},
		{name: "the replacement is gone", lease: stepping(), objects: []runtime.Object{better, newer}, action: ActionTakeBack, reason: reasonTakenBack,
			note: "new need not step down any more: it is chosen by OnlyCandidate"},
		{name: "the replacement is ending", lease: stepping(), objects: []runtime.Object{better, ending(podOf("old", "v1.36.0")), newer}, action: ActionTakeBack, reason: reasonTakenBack},
		{name: "nobody is left", lease: stepping(), objects: []runtime.Object{better}, action: ActionTakeBack, reason: reasonTakenBack,
			note: "new_1 need not step down any more: nobody is there to replace it"},
		{name: "another replacement", lease: stepping(), objects: []runtime.Object{better, podOf("older", "v1.35.0"), newer}, reason: reasonDenyingRenewals, holds: true},
		{name: "the policy preempts nobody any more", lease: stepping(), objects: []runtime.Object{never, older, newer}, action: ActionTakeBack, reason: reasonTakenBack},
		{name: "the policy is in dry run now", lease: stepping(), objects: []runtime.Object{mode(v1alpha1.DryRun), older, newer}, action: ActionTakeBack, reason: reasonTakenBack},
		{name: "paused meanwhile", lease: stepping(), objects: []runtime.Object{better, older, newer, paused}, action: ActionTakeBack, reason: reasonTakenBack},
		{name: "the holder has changed", lease: toldTo(held("old_1", 0, 95), "new_1"), objects: []runtime.Object{better, older, newer}, action: ActionClear, reason: reasonSteppedDown},
		{name: "the holder has gone", lease: toldTo(held("", 0, 95), "new_1"), objects: []runtime.Object{better, older, newer}, action: ActionClear, reason: reasonSteppedDown},
		{name: "it came back under another identity", lease: toldTo(held("new_2", 0, 95), "new_1"), objects: []runtime.Object{better, older, newer}, action: ActionClear, reason: reasonSteppedDown},
		{name: "an order that nobody knows of is gone", lease: byNew(), objects: []runtime.Object{never, older, newer},
			change: func(s *situation) { s.stepping = steppingSince(50, true, reasonDenyingRenewals) }, reason: reasonTakenBack},
		{name: "an order was lost, and so is the holder", lease: byNew(), objects: []runtime.Object{never, older, newer},
			change: func(s *situation) {
				s.stepping, s.term.Start = steppingSince(50, true, reasonDenyingRenewals), metav1.NewTime(at(60))
			}, reason: reasonSteppedDown},

		// Releasing.
		{name: "the holder is dead", lease: byNew(), objects: []runtime.Object{never, older, crashed}, action: ActionRelease, reason: reasonNotSteppingDown,
			note: "the Lease is released for new: its container main ended at 2026-03-01T12:01:36Z with exit code 137"},
		{name: "the holder is dead, and nobody else is there", lease: byNew(), objects: []runtime.Object{never, crashed}, action: ActionRelease, reason: reasonNotSteppingDown},
		{name: "it was told to step down", lease: stepping(), objects: []runtime.Object{better, older, crashed}, action: ActionRelease, reason: reasonSteppedDown},
		{name: "the holder is dead, and somebody else may have elected it", lease: coordinated(byNew(), "leasewarden.dev/oldest", ""), objects: []runtime.Object{never, older, crashed},
			reason: reasonNotSteppingDown},
		{name: "first come", lease: byNew(), objects: []runtime.Object{policyOf("p", v1alpha1.FirstCome), older, crashed}, action: ActionRelease, reason: reasonNotSteppingDown},
		{name: "the term has run out anyway", lease: byNew(), objects: []runtime.Object{never, older, crashed}, change: func(s *situation) { s.term = nil }, reason: reasonNotSteppingDown},
		{name: "the policy wants no release", lease: byNew(), objects: []runtime.Object{leaveDead, older, crashed}, reason: reasonNotSteppingDown},
		{name: "no release in dry run", lease: byNew(), objects: []runtime.Object{mode(v1alpha1.DryRun), older, crashed}, reason: reasonNotSteppingDown},

		// Evicting.
		{name: "evicted", lease: byNew(), objects: []runtime.Object{evicting, older, newer}, action: ActionEvict, reason: reasonEvicting, holds: true,
			note: "new is being evicted: old is chosen by OldestEmulationVersion"},
		{name: "a static Pod", lease: byNew(), objects: []runtime.Object{evicting, older, static}, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true},
		{name: "evicted, and ending", lease: byNew(), objects: []runtime.Object{evicting, older, ending(podOf("new", "v1.37.0"))},
			change: func(s *situation) { s.stepping = steppingSince(99, true, reasonEvicting) }, reason: reasonEvicting, holds: true},
		{name: "pinned, evicted, and within its grace period", lease: byNew(), objects: []runtime.Object{evicting, older, endingBy(podOf("new", "v1.37.0"), 130), pinned},
			change: func(s *situation) { s.stepping = steppingSince(99, true, reasonEvicting) }, reason: reasonEvicting, holds: true, again: 130},
		{name: "pinned, and the grace period is over", lease: byNew(), objects: []runtime.Object{evicting, older, endingBy(podOf("new", "v1.37.0"), 99), pinned},
			change: func(s *situation) { s.stepping = steppingSince(20, true, reasonEvicting) }, action: ActionStepDown, reason: reasonDenyingRenewals, holds: true},
		{name: "evicted, which is not seen yet", lease: byNew(), objects: []runtime.Object{evicting, older, newer},
			change: func(s *situation) { s.stepping, s.evictAfter = steppingSince(99, true, reasonEvicting), at(110) }, reason: reasonEvicting, holds: true, again: 110},
		{name: "refused, and waiting", lease: byNew(), objects: []runtime.Object{evicting, older, newer},
			change: func(s *situation) { s.stepping, s.evictAfter = steppingSince(50, true, reasonEvictionRefused), at(105) }, reason: reasonEvictionRefused, holds: true, again: 105},
		{name: "refused, and tried again", lease: byNew(), objects: []runtime.Object{evicting, older, newer},
			change: func(s *situation) { s.stepping, s.evictAfter = steppingSince(50, true, reasonEvictionRefused), at(95) }, action: ActionEvict, reason: reasonEvicting, holds: true},
		{name: "refused, and the replacement is gone", lease: byNew(), objects: []runtime.Object{evicting, newer},
			change: func(s *situation) { s.stepping = steppingSince(50, true, reasonEvictionRefused) }, reason: reasonTakenBack},

		// Rollouts.
		{name: "a rollout begins", lease: by1(), reason: reasonNotSteppingDown, objects: []runtime.Object{afterRollout,
			revised(podOf("a-1", "v1.36.0"), "1", 0), revised(podOf("a-2", "v1.36.0"), "1", 1), revised(podOf("b-1", "v1.37.0"), "2", 50)}},
		{name: "the new ones do not run yet", lease: by1(), reason: reasonNotSteppingDown, objects: []runtime.Object{afterRollout,
			revised(podOf("a-1", "v1.36.0"), "1", 0), revised(podOf("b-1", "v1.37.0"), "2", 50), pending(revised(podOf("b-2", "v1.37.0"), "2", 51))}},
		{name: "the holder is the last old one", lease: by1(), action: ActionStepDown, reason: reasonDenyingRenewals, holds: true, objects: []runtime.Object{afterRollout,
			revised(podOf("a-1", "v1.36.0"), "1", 0), revised(podOf("b-1", "v1.37.0"), "2", 50), revised(podOf("b-2", "v1.37.0"), "2", 51)}},
		{name: "another rollout begins while it steps down", lease: toldTo(by1(), "a-1"), action: ActionTakeBack, reason: reasonTakenBack, objects: []runtime.Object{afterRollout,
			revised(podOf("a-1", "v1.36.0"), "1", 0), revised(podOf("b-1", "v1.37.0"), "2", 50), revised(podOf("c-1", "v1.37.0"), "3", 60)}},
		{name: "with BetterCandidate, a rollout is no reason to wait", lease: by1(), action: ActionStepDown, reason: reasonDenyingRenewals, holds: true, objects: []runtime.Object{
			newest(v1alpha1.PreemptForBetter), revised(podOf("a-1", "v1.36.0"), "1", 0), revised(podOf("a-2", "v1.36.0"), "1", 1), revised(podOf("b-1", "v1.37.0"), "2", 50)}},

		// Coordinated elections.
		{name: "the API server's own election", lease: coordinated(byNew(), "OldestEmulationVersion", ""), objects: []runtime.Object{better, older, crashed}, reason: reasonNotSteppingDown},
		{name: "another party's election", lease: coordinated(byNew(), "example.com/x", ""), objects: []runtime.Object{better, older, newer}, reason: reasonNotSteppingDown},
		{name: "it became another's while the holder steps down", lease: coordinated(stepping(), "OldestEmulationVersion", "x"), objects: []runtime.Object{better, older, newer}, action: ActionTakeBack, reason: reasonTakenBack},
		{name: "a preferred holder that is left", lease: coordinated(byNew(), "leasewarden.dev/oldest", "old_1"), objects: []runtime.Object{never, older, newer}, action: ActionTakeBack, reason: reasonTakenBack},
		{name: "a preferred holder, and nobody leads", lease: coordinated(held("", 0, 95), "leasewarden.dev/oldest", "old_1"), objects: []runtime.Object{better, older, newer, pinned}, action: ActionClear, reason: reasonSteppedDown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			now := test.now
			if now == 0 {
				now = 100
			}
			s := situationAt(t, now, test.lease, test.objects...)
			if test.change != nil {
				test.change(s)
			}
			p := s.plan()
			if p.action != test.action {
				t.Errorf("action is %q, want %q (%s)", p.action, test.action, p.note)
			}
			if p.condition.Reason != test.reason || (p.condition.Status == metav1.ConditionTrue) != test.holds || p.condition.Message == "" {
				t.Errorf("condition is %s %s %q, want %t %s", p.condition.Status, p.condition.Reason, p.condition.Message, test.holds, test.reason)
			}
			if test.again == 0 != p.again.IsZero() || test.again != 0 && !p.again.Equal(at(test.again)) {
				t.Errorf("again at %v, want %v s", p.again, test.again)
			}
			if (p.action == "") != (p.note == "") || test.note != "" && p.note != test.note {
				t.Errorf("note is %q, want %q", p.note, test.note)
			}
		})
	}
}

// A holder that coordinates through us is asked to make way for the chosen one
// by name, and for another one if that changes.
func TestPlanNamesThePreferredHolder(t *testing.T) {
	lease := coordinated(held("new_1", 0, 95), "leasewarden.dev/oldest", "")
	s := situationAt(t, 100, lease, preempting(v1alpha1.PreemptForBetter), podOf("old", "v1.36.0"), podOf("new", "v1.37.0"))
	s.replacement = "old_1"
	p := s.plan()
	if p.action != ActionStepDown || p.preferred != "old_1" {
		t.Fatalf("%s prefers %q", p.action, p.preferred)
	}
	patch, err := p.patch(lease, at(100))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"metadata":{"annotations":{"leasewarden.dev/step-down":"new_1"},"uid":"1"},"spec":{"preferredHolder":"old_1"}}`; string(patch) != want {
		t.Errorf("patch is %s", patch)
	}

	coordinated(toldTo(lease, "new_1"), "leasewarden.dev/oldest", "old_1")
	if p := s.plan(); p.action != "" || p.condition.Status != metav1.ConditionTrue {
		t.Errorf("afterwards: %s", p.action)
	}
	s.replacement = "older_1"
	if p := s.plan(); p.action != ActionStepDown || p.preferred != "older_1" {
		t.Errorf("with another replacement: %s prefers %q", p.action, p.preferred)
	}
}

func TestPatches(t *testing.T) {
	lease := toldTo(held("new_1", 0, 95), "new_1")
	lease.ResourceVersion = "42"
	for action, want := range map[Action]string{
		ActionTakeBack: `{"metadata":{"annotations":{"leasewarden.dev/step-down":null},"uid":"1"},"spec":{}}`,
		ActionClear:    `{"metadata":{"annotations":{"leasewarden.dev/step-down":null},"uid":"1"},"spec":{}}`,
		ActionRelease: `{"metadata":{"annotations":{"leasewarden.dev/step-down":null},"resourceVersion":"42","uid":"1"},"spec":` +
			`{"acquireTime":"T","holderIdentity":"","leaseDurationSeconds":1,"renewTime":"T"}}`,
	} {
		p := plan{action: action}
		patch, err := p.patch(lease, at(100))
		if err != nil {
			t.Fatal(err)
		}
		now := at(100).UTC().Format(metav1.RFC3339Micro)
		if got := strings.ReplaceAll(string(patch), now, "T"); got != want {
			t.Errorf("%s: %s", action, got)
		}
	}
}

func TestMovesOfOthers(t *testing.T) {
	var m moves
	other := leaseKey
	other.Name = "other"
	check := func(what string, now float64, want bool) {
		t.Helper()
		if got := m.others(leaseKey, at(now)); got != want {
			t.Errorf("%s: others move is %t", what, got)
		}
	}
	m.see(leaseKey, true, at(0))
	check("only this one moves", 0, false)
	m.see(other, false, at(0))
	check("another one is renewed", 0, false)
	m.see(other, true, at(1))
	check("another one has an order", 1000, true)
	m.see(other, false, at(1000))
	check("it was carried out just now", 1004, true)
	check("the Elections tell where it is", 1005, false)
	m.hold(other, at(2000))
	check("another one is evicted", 1999, true)
	check("it has gone", 2000, false)
}
