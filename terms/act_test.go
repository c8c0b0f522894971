package terms

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// get is the Lease of that name.
func (c *cluster) get(name string) *coordinationv1.Lease {
	c.t.Helper()
	var l coordinationv1.Lease
	c.must(c.Get(c.t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, &l))
	return &l
}

// order is who the Lease tells to step down.
func (c *cluster) order() string { return c.get("lease").Annotations[v1alpha1.StepDownAnnotation] }

// stepping is the reason of the condition SteppingDown, with a + if it holds.
func (c *cluster) stepping() string {
	condition := meta.FindStatusCondition(c.election("lease").Status.Conditions, v1alpha1.ConditionSteppingDown)
	if condition.Status == metav1.ConditionTrue {
		return "+" + condition.Reason
	}
	return condition.Reason
}

// renew renews the Lease every 2 s, as its holder does.
func (c *cluster) renew(holder string, acquired time.Time, d time.Duration) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		c.lease("lease", holder, acquired)
		c.pass(2 * time.Second)
	}
}

// reasons are the reasons of the Events since the last call, those on the
// Election.
func (c *cluster) reasons() []string {
	var out []string
	for _, e := range c.recorder.take() {
		if reason, about, _ := strings.Cut(e, " "); strings.HasPrefix(about, "Election/") {
			out = append(out, reason)
		}
	}
	return out
}

func TestStepDownIsOrderedAndTakenBack(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy, older, newer := preempting(v1alpha1.PreemptForBetter), podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		c.elections.use(policy, older, newer)
		acquired := time.Now()
		c.lease("lease", "new_1", acquired)
		c.start()
		c.renew("new_1", acquired, 50*time.Second)
		if c.order() != "" || c.stepping() != "NotAsked" {
			t.Fatalf("within minTerm %s is told to step down", c.order())
		}
		c.renew("new_1", acquired, 20*time.Second)
		if c.order() != "new_1" || c.stepping() != "+DenyingRenewals" {
			t.Fatalf("after minTerm, the order is %q, and SteppingDown %s", c.order(), c.stepping())
		}
		if diff := cmp.Diff([]string{EventSteppingDown}, c.reasons()); diff != "" {
			t.Error(diff)
		}

		c.elections.use(policy, newer)
		c.pass(200 * time.Millisecond)
		if c.order() != "" {
			t.Fatal("the order outlives the replacement")
		}
		c.renew("new_1", acquired, 4*time.Second)
		if c.stepping() != "TakenBack" {
			t.Errorf("SteppingDown is %s", c.stepping())
		}
		c.elections.use(policy, older, newer)
		c.renew("new_1", acquired, 20*time.Second)
		if c.order() != "" {
			t.Error("the cooldown is not kept")
		}
		c.renew("new_1", acquired, 20*time.Second)
		if c.order() != "new_1" {
			t.Error("after the cooldown, nobody is told to step down")
		}
		if diff := cmp.Diff([]string{EventStepDownTakenBack, EventSteppingDown}, c.reasons()); diff != "" {
			t.Error(diff)
		}

		c.lease("lease", "old_1", time.Now())
		c.pass(time.Second)
		if c.order() != "" || c.stepping() != "SteppedDown" {
			t.Errorf("with a new holder, the order is %q, and SteppingDown %s", c.order(), c.stepping())
		}
	})
}

func TestStepDownEndsWithItsPolicy(t *testing.T) {
	stamped := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease", Annotations: map[string]string{
		v1alpha1.ElectedByAnnotation: "ElectionPolicy ns/p", v1alpha1.StrategyAnnotation: "x", v1alpha1.CriterionAnnotation: "y", "theirs": "kept",
	}}}
	inBubble(t, func(t *testing.T, c *cluster) {
		policy, older, newer := preempting(v1alpha1.PreemptForBetter), podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		c.elections.use(policy, older, newer)
		acquired := time.Now()
		c.lease("lease", "new_1", acquired)
		c.start()
		c.renew("new_1", acquired, 70*time.Second)
		if c.order() != "new_1" {
			t.Fatal("nobody is told to step down")
		}
		c.elections.use(older, newer)
		c.pass(time.Second)
		if diff := cmp.Diff(map[string]string{"theirs": "kept"}, c.get("lease").Annotations); diff != "" {
			t.Errorf("without a policy, the Lease has: %s", diff)
		}
		if holderIdentity(c.get("lease")) != "new_1" {
			t.Error("the holder was changed")
		}
	}, stamped)
}

// Another replica that takes over in the middle goes on from what it finds.
func TestStepDownSurvivesARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy, older, newer := preempting(v1alpha1.PreemptForBetter), podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		c.elections.use(policy, older, newer)
		acquired := time.Now()
		c.lease("lease", "new_1", acquired)
		c.start()
		c.renew("new_1", acquired, 70*time.Second)
		c.stop()
		c.reasons()

		c.start()
		c.renew("new_1", acquired, 10*time.Second)
		if c.order() != "new_1" || c.stepping() != "+DenyingRenewals" || len(c.reasons()) > 0 {
			t.Errorf("after a restart, the order is %q, and SteppingDown %s", c.order(), c.stepping())
		}
		c.stop()
		c.elections.use(policy, newer)
		c.start()
		c.renew("new_1", acquired, 4*time.Second)
		if c.order() != "" || c.stepping() != "TakenBack" {
			t.Errorf("after the replacement went while nobody watched, the order is %q, and SteppingDown %s", c.order(), c.stepping())
		}
	})
}

// dying is the Pod old, in which the process that holds the Lease has ended.
func dying(created, ended time.Time) *corev1.Pod {
	pod := podOf("old", "v1.36.0")
	pod.CreationTimestamp = metav1.NewTime(created)
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "1", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ContainerID: "1", StartedAt: metav1.NewTime(created), FinishedAt: metav1.NewTime(ended), ExitCode: 137},
	}}}
	return pod
}

func TestLeaseOfADeadHolderIsReleased(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy, newer := preempting(v1alpha1.PreemptNever), podOf("new", "v1.37.0")
		c.elections.use(policy, podOf("old", "v1.36.0"), newer)
		started := time.Now()
		c.pass(2 * time.Second)
		acquired := time.Now()
		c.lease("lease", "old"+processSuffix, acquired)
		l := c.get("lease")
		transitions := int32(7)
		l.Spec.LeaseTransitions, l.Finalizers = &transitions, []string{"example.com/theirs"}
		c.must(c.Update(t.Context(), l))
		c.start()
		c.pass(2 * time.Second)
		c.reasons()

		died := time.Now()
		c.elections.use(policy, dying(started, died), newer)
		c.pass(200 * time.Millisecond)
		got := c.get("lease")
		if holderIdentity(got) != "" || *got.Spec.LeaseDurationSeconds != 1 || *got.Spec.LeaseTransitions != 7 {
			t.Fatalf("the Lease is %+v", got.Spec)
		}
		if !got.Spec.RenewTime.Equal(got.Spec.AcquireTime) || got.Spec.RenewTime.Time.Before(died.Truncate(time.Microsecond)) {
			t.Errorf("released at %v, acquired at %v", got.Spec.RenewTime, got.Spec.AcquireTime)
		}
		if !slices.Equal(got.Finalizers, []string{"example.com/theirs"}) {
			t.Error("a finalizer of somebody else's is gone")
		}
		c.pass(2 * time.Second)
		status := c.election("lease").Status
		if status.Holder != nil || status.Terms[0].EndReason != v1alpha1.TermReleased || status.Chosen != "new" {
			t.Errorf("the status is %+v", status)
		}
		if diff := cmp.Diff([]string{EventLeaseReleased}, c.reasons()); diff != "" {
			t.Error(diff)
		}
	})
}

// A renewal that comes between the look and the write is not lost.
func TestReleaseFailsIfTheLeaseHasChanged(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		started := time.Now()
		c.pass(2 * time.Second)
		acquired := time.Now()
		c.elections.use(preempting(v1alpha1.PreemptNever), podOf("old", "v1.36.0"))
		c.lease("lease", "old"+processSuffix, acquired)
		c.start()
		tries := 0
		c.WithWatch = interceptor.NewClient(c.WithWatch, interceptor.Funcs{
			Patch: func(ctx context.Context, w client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
				if tries++; tries == 1 {
					c.pass(3 * time.Second)
					c.lease("lease", "old"+processSuffix, acquired)
				}
				return w.Patch(ctx, o, patch, opts...)
			},
		})
		c.elections.use(preempting(v1alpha1.PreemptNever), dying(started, time.Now()))
		c.pass(10 * time.Second)
		if holderIdentity(c.get("lease")) == "" || tries != 1 {
			t.Errorf("after %d tries the holder is %q", tries, holderIdentity(c.get("lease")))
		}
	})
}

func TestEvictionThatIsRefusedIsTriedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy, older, newer := preempting(v1alpha1.PreemptForBetter, byEviction), podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		newer.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Minute))
		c.must(c.Create(t.Context(), newer.DeepCopy()))
		refuse, tries := true, 0
		c.WithWatch = interceptor.NewClient(c.WithWatch, interceptor.Funcs{
			SubResourceCreate: func(ctx context.Context, w client.Client, sub string, o, body client.Object, opts ...client.SubResourceCreateOption) error {
				tries++
				if refuse {
					return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
				}
				return w.SubResource(sub).Create(ctx, o, body, opts...)
			},
		})
		c.elections.use(policy, older, newer)
		acquired := time.Now()
		c.lease("lease", "new_1", acquired)
		c.start()
		c.renew("new_1", acquired, 2*time.Minute)
		if c.stepping() != "+EvictionRefused" || tries < 2 || tries > 4 {
			t.Fatalf("after %d refused evictions SteppingDown is %s", tries, c.stepping())
		}
		if r := c.reasons(); len(r) != tries || r[0] != EventEvictionRefused {
			t.Errorf("events are %q", r)
		}
		refuse = false
		c.renew("new_1", acquired, time.Minute)
		if c.stepping() != "+Evicting" && c.stepping() != "TakenBack" {
			t.Errorf("SteppingDown is %s", c.stepping())
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(newer), newer); !apierrors.IsNotFound(err) {
			t.Errorf("the Pod: %v", err)
		}
		if c.order() != "" {
			t.Error("an order was written, too")
		}
	})
}

// One eviction does not delay that of the next holder.
func TestNextHolderIsEvictedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy := preempting(v1alpha1.PreemptForBetter, byEviction)
		policy.Spec.Preemption.MinTerm, policy.Spec.Preemption.Cooldown = &metav1.Duration{}, &metav1.Duration{}
		oldest, older, newer := podOf("oldest", "v1.35.0"), podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		for _, pod := range []*corev1.Pod{older, newer} {
			pod.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Minute))
			c.must(c.Create(t.Context(), pod.DeepCopy()))
		}
		evicted := func(pod *corev1.Pod) bool {
			return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}))
		}
		c.elections.use(policy, older, newer)
		c.lease("lease", "new_1", time.Now())
		c.start()
		c.pass(time.Second)
		if !evicted(newer) {
			t.Fatal("the first holder is not evicted")
		}
		c.lease("lease", "old_1", time.Now())
		c.elections.use(policy, oldest, older)
		c.pass(time.Second)
		if !evicted(older) {
			t.Errorf("the second holder is not evicted: %s, %q", c.stepping(), c.reasons())
		}
	})
}

func TestActionsAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		p := NewPublisher(PublisherOptions{Client: c, Leases: NewLeaseWatch(LeaseWatchOptions{Elections: c.elections}), Elections: c.elections, Recorder: c.recorder})
		defer p.elections.ShutDown()
		defer p.policies.ShutDown()
		c.elections.use(preempting(v1alpha1.PreemptForBetter), podOf("old", "v1.36.0"), podOf("new", "v1.37.0"))
		acquired := time.Now().Add(-time.Hour)
		c.lease("lease", "new_1", acquired)
		c.must(p.leases.Update(c.get("lease")))
		pub := p.published.get(leaseKey)
		look := func() outcome {
			a, _ := p.leases.look(leaseKey, pub.terms)
			a.terms = []v1alpha1.Term{{Holder: "new", Identity: "new_1", Start: metav1.NewTime(acquired)}}
			view, err := c.elections.View(leaseKey, a.lease, time.Now())
			c.must(err)
			decision := picker.Decide(view.Policy, &view.State)
			return p.act(t.Context(), leaseKey, pub, view, &decision, &a, time.Now())
		}
		look()
		if out := look(); len(out.found) > 0 {
			t.Error("it is told twice, while the watch is behind")
		}
		if n := testutil.ToFloat64(p.Metrics.preemptions.WithLabelValues("ns", "lease", "BetterCandidate", "DenyRenewal")); n != 1 {
			t.Errorf("counted %v step-downs", n)
		}
	})
}
