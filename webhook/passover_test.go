package webhook

import (
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// silentFirst is a Lease whose best candidate, old, hangs. Some of the tests are
// of candidates that would have the Lease before its time.
type silentFirst struct {
	*candidates.Replay
	t     *testing.T
	start time.Time
}

func newSilentFirst(t *testing.T, pods ...*corev1.Pod) *silentFirst {
	s := &silentFirst{candidates.NewReplay(candidates.NewObjectSet()), t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.Add(&v1alpha1.ElectionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ElectionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "p", CreationTimestamp: metav1.NewTime(s.start)},
		Spec: v1alpha1.ElectionPolicySpec{
			Leases:   v1alpha1.LeaseSelection{Names: []string{"web"}},
			Strategy: v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion},
			Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
				Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				Version:  &v1alpha1.VersionSource{FromLabel: "v"},
			}},
			Preemption: v1alpha1.Preemption{When: v1alpha1.PreemptForBetter},
		},
	})
	for _, pod := range append(pods, webPod("old", "v1.36.0"), webPod("new", "v1.37.0")) {
		s.Add(pod)
	}
	return s
}

func (s *silentFirst) at(seconds float64) time.Time {
	return s.start.Add(time.Duration(seconds * float64(time.Second)))
}

func webPod(name, version string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{"app": "web", "v": version}, CreationTimestamp: metav1.NewTime(time.Unix(0, 0)),
		},
		Spec:   corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web", Image: "web:v1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// lease is the Lease as written at that time. An empty holder has released it.
func (s *silentFirst) lease(holder string, renewed float64, duration int32) *coordinationv1.Lease {
	now := ptr.To(metav1.NewMicroTime(s.at(renewed)))
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "l"},
		Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: &duration, AcquireTime: now, RenewTime: now},
	}
	if holder != "" {
		l.Spec.HolderIdentity = &holder
	}
	return l
}

// tries has the identity write the Lease every so often, and returns how many
// seconds after the first try it was allowed to. 0: it never was, within a minute.
func (s *silentFirst) tries(transition Transition, old *coordinationv1.Lease, identity, pod string, from, every float64, duration int32) float64 {
	s.t.Helper()
	for at := from; at < from+60; at += every {
		b, err := s.Attempt(candidates.Attempt{
			Old: old, New: s.lease(identity, at, duration), User: userOf(pod), Time: s.at(at),
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if r := Rule(transition, identity, b, false); r.Verdict == Allow {
			return at - from
		}
	}
	return 0
}

// userOf is the user of a Pod with a bound token, or, without one, some user.
func userOf(pod string) authenticationv1.UserInfo {
	if pod == "" {
		return authenticationv1.UserInfo{Username: "system:kube-scheduler"}
	}
	return authenticationv1.UserInfo{
		Username: "system:serviceaccount:ns:web",
		Extra: map[string]authenticationv1.ExtraValue{
			"authentication.kubernetes.io/pod-name": {pod}, "authentication.kubernetes.io/pod-uid": {"uid-" + pod},
		},
	}
}

// A holder that was told to step down is not one that tries to acquire, whatever
// it writes: it could have its replacement passed over.
func TestRenewalsAreNotTries(t *testing.T) {
	for name, change := range map[string]func(*coordinationv1.Lease){
		"with a clock that is behind": func(l *coordinationv1.Lease) {
			l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(l.Spec.RenewTime.Add(-time.Minute)))
		},
		"without a renewTime": func(l *coordinationv1.Lease) { l.Spec.RenewTime = nil },
		"without a duration":  func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSilentFirst(t)
			l := s.lease("new_1", 0, 15)
			change(l)
			l.Annotations = map[string]string{v1alpha1.StepDownAnnotation: "new_1"}
			s.Observe(l, s.at(0))
			if after := s.tries(Renew, l, "new_1", "new", 0.5, 0.5, 15); after != 0 {
				t.Errorf("its renewal is admitted after %v s", after)
			}
		})
	}
}

// Electors begin up to two turns (4.4 s each, by default) after the first one.
func TestQuickRowOfTriesHurriesNobody(t *testing.T) {
	s := newSilentFirst(t, webPod("dead", "v1.38.0"))
	expired := s.lease("dead_1", 0, 15)
	s.Observe(expired, s.at(0))
	if after := s.tries(Takeover, expired, "new_1", "new", 15, 0.25, 15); after < 10 || after > 11 {
		t.Errorf("after an expired term, it may lead %v s after its first try, want 10", after)
	}

	s = newSilentFirst(t)
	s.Observe(s.lease("dead_1", -1, 15), s.at(-1))
	released := s.lease("", 0, 1)
	s.Observe(released, s.at(0))
	if after := s.tries(Acquire, released, "new_1", "new", 0, 0.25, 15); after < 5 || after > 6 {
		t.Errorf("after a release, it may lead %v s after its first try, want 5", after)
	}
}

// What a candidate writes does not make others wait for less.
func TestDurationsThatCandidatesWriteHurryNobody(t *testing.T) {
	s := newSilentFirst(t)
	fresh := s.lease("", 0, 1)
	s.Observe(fresh, s.at(0))
	if after := s.tries(Acquire, fresh, "new_1", "new", 1, 0.25, 1); after < 5 {
		t.Errorf("by its first attempt, it may lead %v s after it, want 5 at least", after)
	}

	s = newSilentFirst(t)
	s.Observe(s.lease("new_1", -1, 15), s.at(-1))
	released := s.lease("", 0, 2)
	s.Observe(released, s.at(0))
	if after := s.tries(Acquire, released, "new_2", "new", 0, 0.25, 15); after < 5 {
		t.Errorf("by its release, it may lead %v s after that, want 5 at least", after)
	}

	s = newSilentFirst(t)
	s.Observe(s.lease("new_1", -1, 1<<30), s.at(-1))
	s.Observe(s.lease("", 0, 1), s.at(0))
	if after := s.tries(Acquire, s.lease("", 0, 1), "new_2", "new", 0, 20, 15); after != 0 {
		t.Fatalf("it may lead after %v s, want minutes", after)
	}
	if after := s.tries(Acquire, s.lease("", 0, 1), "new_2", "new", 60, 20, 15) + s.tries(Acquire, s.lease("", 0, 1), "new_2", "new", 280, 20, 15); after == 0 {
		t.Error("an absurd duration keeps the Lease vacant")
	}
}

// Two Pods on the network of one node, without a token that tells which asks.
func TestWhoCannotBeToldApartIsHeard(t *testing.T) {
	s := newSilentFirst(t)
	s.Add(&corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{corev1.LabelHostname: "n1"}},
	})
	for _, name := range []string{"a", "b"} {
		pod := webPod(name, "v1.37.0")
		pod.Spec.HostNetwork, pod.Spec.NodeName = true, "n1"
		s.Add(pod)
	}
	s.Observe(s.lease("dead_1", -1, 15), s.at(-1))
	released := s.lease("", 0, 1)
	s.Observe(released, s.at(0))
	after := s.tries(Acquire, released, "n1_5f0f6b9e-8e5c-4c1a-9d38-f7a1c3c1c5e0", "", 0, 2, 15)
	if after == 0 || after > 15 {
		t.Errorf("one of them may lead after %v s, want 15 at most", after)
	}
}
