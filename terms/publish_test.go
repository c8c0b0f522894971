package terms

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestPublisherFollowsALease(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.OldestEmulationVersion), podOf("a-0", "v1.36.0"), podOf("a-1", "v1.37.0"))
		acquired := time.Now()
		c.lease("lease", "a-0_1", acquired)
		c.lease("other", "a-0_1", acquired)
		c.start()

		e := c.election("lease")
		if e == nil || e.Status.Holder == nil || e.Status.Holder.Name != "a-0" || e.Status.Chosen != "a-0" || e.Status.Eligible != "2/2" {
			t.Fatalf("the Election is %+v", e)
		}
		if c.election("other") != nil {
			t.Error("a Lease that no policy governs has an Election")
		}
		if diff := cmp.Diff([]string{"apply lease", "apply status lease"}, c.took("lease")); diff != "" {
			t.Errorf("writes: %s", diff)
		}

		for range 60 {
			c.lease("lease", "a-0_1", acquired)
			c.lease("other", "a-0_1", acquired)
			c.pass(2 * time.Second)
		}
		if w := append(c.took("lease"), c.took("other")...); len(w) > 0 {
			t.Errorf("renewals were written: %q", w)
		}
		if after := c.election("lease"); after.ResourceVersion != e.ResourceVersion {
			t.Error("renewals changed the Election")
		}
		if events := c.recorder.take(); len(events) > 0 {
			t.Errorf("renewals were told of: %q", events)
		}

		c.lease("lease", "", time.Now())
		c.lease("lease", "a-1_1", time.Now())
		c.pass(time.Second)
		e = c.election("lease")
		if e.Status.Holder.Name != "a-1" || len(e.Status.Terms) != 2 || e.Status.Terms[1].EndReason != v1alpha1.TermReleased {
			t.Errorf("after a release the status is %+v", e.Status)
		}
		if !meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionHolderNotChosen) {
			t.Errorf("conditions are %+v", e.Status.Conditions)
		}
		if events := c.recorder.take(); len(events) != 1 || events[0] != "LeaderChanged Election/lease: a-1 leads; the term of a-0 ended: Released" {
			t.Errorf("events are %q", events)
		}
	})
}

func TestPublisherNoticesAnExpiry(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.FirstCome), podOf("a-0", "v1.36.0"))
		acquired := time.Now()
		c.lease("lease", "a-0", acquired)
		c.start()
		c.pass(10 * time.Second)
		c.lease("lease", "a-0", acquired)
		renewed := time.Now()
		c.pass(14 * time.Second)
		if c.election("lease").Status.Holder == nil {
			t.Fatal("a term ended before its time")
		}
		c.pass(time.Second)
		status := c.election("lease").Status
		if status.Holder != nil || status.Terms[0].EndReason != v1alpha1.TermExpired || !status.Terms[0].End.Time.Equal(renewed.Add(15*time.Second)) {
			t.Errorf("the status is %+v", status)
		}
	})
}

func TestPublisherRemembersADeletedLease(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.FirstCome), podOf("a-0", "v1.36.0"))
		c.lease("lease", "a-0", time.Now())
		c.start()
		c.deleteLease("lease")
		c.pass(time.Second)
		status := c.election("lease").Status
		if status.Holder != nil || status.Terms[0].EndReason != v1alpha1.TermDeleted || meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionReady) {
			t.Fatalf("the status is %+v", status)
		}
		c.pass(Retention / 2)
		c.lease("lease", "a-0", time.Now())
		c.pass(time.Second)
		if terms := c.election("lease").Status.Terms; len(terms) != 2 || terms[0].End != nil {
			t.Errorf("the terms are %+v", terms)
		}
		c.deleteLease("lease")
		c.pass(Retention - time.Second)
		if c.election("lease") == nil {
			t.Fatal("the Election went before its time")
		}
		c.pass(recheckEvery)
		if c.election("lease") != nil {
			t.Error("the Election is kept for ever")
		}
	})
}

func TestPublisherRemovesElectionsThatNoPolicyGoverns(t *testing.T) {
	foreign := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "foreign"}}
	orphan := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "orphan", Labels: managedBy}}
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.FirstCome), podOf("a-0", "v1.36.0"))
		c.lease("lease", "a-0", time.Now())
		c.start()
		if c.election("lease") == nil {
			t.Fatal("there is no Election")
		}
		if c.election("orphan") != nil {
			t.Error("the Election of a policy that went while nobody watched is still there")
		}
		c.elections.use()
		c.pass(time.Second)
		if c.election("lease") != nil {
			t.Error("the Election outlives the policy")
		}
		if c.election("foreign") == nil {
			t.Error("an Election of somebody else's was deleted")
		}
	}, foreign, orphan)
}

func TestPublisherGoesOnAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy := policyOf("p", v1alpha1.OldestEmulationVersion)
		c.must(c.Create(t.Context(), policy.DeepCopy()))
		c.elections.use(policy, podOf("a-0", "v1.36.0"))
		acquired := time.Now()
		c.lease("lease", "a-0_1", acquired)
		c.start()
		c.pass(5 * time.Second)
		c.lease("lease", "a-0_1", acquired)
		c.stop()
		before := c.election("lease")
		c.took("lease")
		c.recorder.take()

		c.start()
		c.pass(5 * time.Second)
		if w := append(c.took("lease"), c.took("p")...); len(w) > 0 {
			t.Errorf("a restart wrote %q", w)
		}
		if events := c.recorder.take(); len(events) > 0 {
			t.Errorf("a restart told of %q", events)
		}
		c.lease("lease", "b", time.Now())
		c.pass(time.Second)
		if terms := c.election("lease").Status.Terms; len(terms) != 2 || cmp.Diff(before.Status.Terms[0].Start, terms[1].Start) != "" || terms[1].Holder != "a-0" {
			t.Errorf("terms are %+v", terms)
		}
	})
}

func TestPublisherOutlastsItsCRDs(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.FirstCome), podOf("a-0", "v1.36.0"))
		c.lease("lease", "a-0", time.Now())
		c.start()
		c.must(c.DeleteAllOf(t.Context(), &v1alpha1.Election{}, client.InNamespace("ns")))
		c.refuses(apierrors.NewNotFound(schema.GroupResource{Group: "leasewarden.dev", Resource: "elections"}, ""))
		c.took("lease")
		c.lease("lease", "", time.Now())
		c.pass(10 * time.Minute)
		if n := len(c.took("lease")); n < 5 || n > 40 {
			t.Errorf("tried %d times in 10 minutes", n)
		}
		c.refuses(nil)
		c.pass(2 * lastRetry)
		e := c.election("lease")
		if e == nil || len(e.Status.Terms) != 1 || e.Status.Terms[0].EndReason != v1alpha1.TermReleased {
			t.Errorf("the Election is %+v", e)
		}
	})
}

func TestPublisherUndoesWhatOthersDo(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(policyOf("p", v1alpha1.FirstCome), podOf("a-0", "v1.36.0"))
		c.lease("lease", "", time.Now())
		c.start()
		e := c.election("lease")
		e.Status.Policy = "ElectionPolicy/mallory"
		c.must(c.Status().Update(t.Context(), e))
		c.pass(recheckEvery)
		if policy := c.election("lease").Status.Policy; policy != "ElectionPolicy/p" {
			t.Errorf("policy is %q", policy)
		}
		c.must(c.Delete(t.Context(), c.election("lease")))
		c.pass(recheckEvery)
		if c.election("lease") == nil {
			t.Error("a deleted Election stays away")
		}
	})
}

func TestPublisherOutlastsItsOwnFaults(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy := policyOf("p", v1alpha1.FirstCome)
		policy.Spec.Leases.Names = []string{"*"}
		c.elections.use(policy, podOf("a-0", "v1.36.0"))
		c.elections.broken = types.NamespacedName{Namespace: "ns", Name: "broken"}
		c.lease("broken", "a-0", time.Now())
		c.lease("lease", "a-0", time.Now())
		c.start()
		if c.election("lease") == nil || c.election("broken") != nil {
			t.Error("one Lease that brings out a fault keeps the others from being published")
		}
	})
}

func TestPublisherBoundsTheWritesOfAFlappingCandidate(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy := policyOf("p", v1alpha1.FirstCome)
		c.elections.use(policy, podOf("a-0", "v1.36.0"))
		c.lease("lease", "", time.Now())
		c.start()
		c.took("lease")
		for i := range 600 {
			if i%2 == 0 {
				c.elections.use(policy)
			} else {
				c.elections.use(policy, podOf("a-0", "v1.36.0"))
			}
			c.pass(100 * time.Millisecond)
		}
		if n := len(c.took("lease")); n < 5 || n > 40 {
			t.Errorf("600 changes in a minute were %d writes", n)
		}
		c.pass(10 * time.Second)
		if eligible := c.election("lease").Status.Eligible; eligible != "1/1" {
			t.Errorf("in the end, eligible is %s", eligible)
		}
	})
}

func TestPublisherEndsAPriorityInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		preferred := podOf("new", "v1.37.0")
		preferred.Annotations = map[string]string{
			v1alpha1.PriorityAnnotation:      "5",
			v1alpha1.PriorityUntilAnnotation: time.Now().Add(90 * time.Second).Format(time.RFC3339),
		}
		preferred.CreationTimestamp = metav1.Now()
		c.elections.use(policyOf("p", v1alpha1.Priority), preferred, podOf("old", "v1.36.0"))
		c.lease("lease", "", time.Now())
		c.start()
		c.pass(87 * time.Second)
		if chosen := c.election("lease").Status.Chosen; chosen != "new" {
			t.Fatalf("before, chosen is %q", chosen)
		}
		c.recorder.take()
		c.pass(time.Second)
		if chosen := c.election("lease").Status.Chosen; chosen != "old" {
			t.Errorf("after, chosen is %q", chosen)
		}
		c.pass(10 * time.Minute)
		events := c.recorder.take()
		if len(events) != 2 || !strings.HasPrefix(events[0], "PriorityEnded Election/lease: priority 5 of new ended") || !strings.HasPrefix(events[1], "PriorityEnded Pod/new: ") {
			t.Errorf("events are %q", events)
		}
	})
}

func TestPublisherSaysWhatItMakesOfPolicies(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		winner, loser, invalid := policyOf("winner", v1alpha1.FirstCome), policyOf("zloser", v1alpha1.FirstCome), policyOf("invalid", v1alpha1.Custom)
		winner.Spec.Leases.Names = []string{"lease*"}
		invalid.Spec.Strategy.Scores = []v1alpha1.ScoreEntry{{Plugin: "Astrology"}}
		cluster := &v1alpha1.ClusterElectionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "cluster", UID: "cluster", Generation: 1}}
		cluster.Spec.ElectionPolicySpec = *winner.Spec.DeepCopy()
		for _, o := range []client.Object{winner.DeepCopy(), loser.DeepCopy(), invalid.DeepCopy(), cluster.DeepCopy()} {
			c.must(c.Create(t.Context(), o))
		}
		c.elections.use(winner, loser, invalid, cluster)
		c.lease("lease", "", time.Now())
		c.lease("lease-2", "", time.Now())
		c.start()
		c.pass(settling)

		status := func(o client.Object) v1alpha1.ElectionPolicyStatus {
			t.Helper()
			c.must(c.Get(context.Background(), client.ObjectKeyFromObject(o), o))
			switch o := o.(type) {
			case *v1alpha1.ElectionPolicy:
				return o.Status
			case *v1alpha1.ClusterElectionPolicy:
				return o.Status
			}
			return v1alpha1.ElectionPolicyStatus{}
		}
		for _, tt := range []struct {
			of              client.Object
			leases          int32
			ready, conflict bool
		}{
			{winner.DeepCopy(), 2, true, false},
			{loser.DeepCopy(), 0, true, true},
			{invalid.DeepCopy(), 0, false, false},
			{cluster.DeepCopy(), 0, true, true},
		} {
			s := status(tt.of)
			ready, conflict := meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionReady), meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionPolicyConflict)
			if s.ObservedGeneration != 1 || s.Leases != tt.leases || ready != tt.ready || conflict != tt.conflict {
				t.Errorf("the status of %s is %+v", tt.of.GetName(), s)
			}
		}
		c.took("")
		c.deleteLease("lease-2")
		c.pass(2 * settling)
		if s := status(winner.DeepCopy()); s.Leases != 1 {
			t.Errorf("after a Lease has gone, winner governs %d", s.Leases)
		}
	})
}

func TestSlot(t *testing.T) {
	limits := newWriteLimits(1)
	now := at(0)
	waits := map[time.Duration]int{}
	for range 4 {
		s := newSlot()
		waits[s.wait(limits, now)]++
	}
	// Two at once, then one in a second: each waits for a second of its own.
	if diff := cmp.Diff(map[time.Duration]int{0: 2, time.Second: 1, 2 * time.Second: 1}, waits); diff != "" {
		t.Error(diff)
	}
	s := newSlot()
	first := s.wait(limits, now)
	if again := s.wait(limits, now.Add(time.Second)); again != first-time.Second {
		t.Errorf("a slot that was given is in %v, then in %v", first, again)
	}
	if last := s.wait(limits, now.Add(first)); last != 0 {
		t.Errorf("the slot came and is in %v", last)
	}
}
