package terms

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// rehearsed is a policy in dry-run.
func rehearsed(policy *v1alpha1.ElectionPolicy) *v1alpha1.ElectionPolicy {
	policy.Spec.Mode = v1alpha1.DryRun
	return policy
}

// dryRun is what the Election says of it, without times.
func (c *cluster) dryRun() v1alpha1.DryRunStatus {
	c.t.Helper()
	e := c.election("lease")
	if e == nil || e.Status.DryRun == nil {
		c.t.Fatal("the Election says nothing of a dry-run")
	}
	return *e.Status.DryRun
}

// expectDryRun compares all that counts.
func (c *cluster) expectDryRun(what, leader string, leaderChanges, holderChanges, wouldDeny int32, message string) {
	c.t.Helper()
	got := c.dryRun()
	if got.Leader != leader || got.LeaderChanges != leaderChanges || got.HolderChanges != holderChanges || got.WouldDeny != wouldDeny || !strings.Contains(got.Message, message) {
		c.t.Errorf("%s: %+v", what, got)
	}
}

const (
	inStep   = "the same candidate leads as would under the policy"
	estimate = "is an estimate"
)

func ended(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	return pod
}

func TestDryRunFollowsTheCounterfactual(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy, older, newer := rehearsed(policyOf("p", v1alpha1.OldestEmulationVersion)), podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		c.elections.use(policy, older, newer)
		began := time.Now()
		c.lease("lease", "old_1", began)
		c.start()
		c.expectDryRun("it begins", "old", 0, 0, 0, inStep)

		release := func(next string) {
			c.lease("lease", "", time.Now())
			c.pass(time.Second)
			c.lease("lease", next, time.Now())
			c.pass(5 * time.Second)
		}
		release("new_1")
		c.expectDryRun("one that would be refused acquires", "old", 0, 1, 1, "new holds the Lease in fact. That old would have taken it at once")
		if d := c.dryRun().LastDenied; d == nil || d.Candidate != "new" || d.Message != "new would have been refused: old is chosen by OldestEmulationVersion" {
			t.Errorf("the denial is %+v", d)
		}
		if diff := cmp.Diff([]string{EventLeaderChanged, EventWouldDeny}, c.reasons()); diff != "" {
			t.Error(diff)
		}

		release("new_1")
		c.expectDryRun("and again", "old", 0, 1, 2, estimate)
		if diff := cmp.Diff([]string{EventLeaderChanged}, c.reasons()); diff != "" {
			t.Errorf("the same finding is told once: %s", diff)
		}

		release("old_1")
		c.expectDryRun("who would lead leads in fact", "old", 0, 2, 2, inStep)

		release("new_2")
		c.expectDryRun("out of step", "old", 0, 3, 3, estimate)
		c.elections.use(policy, ended(older), newer)
		c.pass(5 * time.Second)
		c.expectDryRun("who would lead ends", "new", 1, 3, 3, inStep)

		c.elections.use(policy, ended(older), ended(newer))
		c.lease("lease", "", time.Now())
		c.pass(5 * time.Second)
		c.expectDryRun("nobody leads", "", 1, 3, 3, inStep)
		release("stranger")
		c.expectDryRun("a stranger does", "", 1, 4, 4, "which nobody would under the policy")
		c.elections.use(policy, older, ended(newer))
		c.pass(5 * time.Second)
		c.expectDryRun("somebody eligible comes", "old", 2, 4, 4, estimate)
	})
}

// A Lease that is made in dry-run has no holder from before.
func TestDryRunRulesOnTheFirstHolder(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elections.use(rehearsed(policyOf("p", v1alpha1.OldestEmulationVersion)), podOf("old", "v1.36.0"), podOf("new", "v1.37.0"))
		c.start()
		c.lease("lease", "new_1", time.Now())
		c.pass(5 * time.Second)
		c.expectDryRun("made", "old", 1, 1, 1, estimate)
		if diff := cmp.Diff([]string{EventWouldDeny}, c.reasons()); diff != "" {
			t.Error(diff)
		}
		c.stop()
		c.start()
		c.pass(5 * time.Second)
		c.expectDryRun("after a restart", "old", 1, 1, 1, estimate)
	})
}

// What would be done about a term is said, once, and not done.
func TestDryRunSaysWhatWouldBeDone(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*v1alpha1.ElectionPolicySpec)
		want string
	}{
		{"step down", nil, "new would be told to step down: old is chosen by OldestEmulationVersion"},
		{"evict", func(s *v1alpha1.ElectionPolicySpec) { s.Preemption.Method = v1alpha1.Evict },
			"new would be evicted, if PodDisruptionBudgets allow it: old is chosen by OldestEmulationVersion"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *cluster) {
				policy := rehearsed(preempting(v1alpha1.PreemptForBetter))
				if tt.edit != nil {
					tt.edit(&policy.Spec)
				}
				older, newer := podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
				c.must(c.Create(t.Context(), newer.DeepCopy()))
				c.elections.use(policy, older, newer)
				acquired := time.Now()
				c.lease("lease", "new_1", acquired)
				c.start()
				c.renew("new_1", acquired, 50*time.Second)
				if got := c.dryRun(); got.WouldDo != "" || got.Leader != "new" {
					t.Fatalf("within minTerm: %+v", got)
				}
				c.renew("new_1", acquired, 5*time.Minute)
				if got := c.dryRun(); got.WouldDo != tt.want || got.Leader != "old" || got.LeaderChanges != 1 || got.WouldDeny != 0 {
					t.Errorf("after it: %+v", got)
				}
				if diff := cmp.Diff([]string{EventWouldAct}, c.reasons()); diff != "" {
					t.Error(diff)
				}
				lease := c.get("lease")
				if len(lease.Annotations) > 0 || *lease.Spec.HolderIdentity != "new_1" || c.stepping() != "NotAsked" {
					t.Errorf("the Lease was changed: %+v", lease)
				}
				if len(c.took("lease")) > 4 {
					t.Error("each renewal is written")
				}
			})
		})
	}
}

func TestDryRunReleasesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy, newer := rehearsed(policyOf("p", v1alpha1.OldestEmulationVersion)), podOf("new", "v1.37.0")
		c.elections.use(policy, podOf("old", "v1.36.0"), newer)
		started := time.Now()
		c.pass(2 * time.Second)
		holder := "old" + processSuffix
		c.lease("lease", holder, time.Now())
		c.start()
		c.pass(2 * time.Second)
		c.elections.use(policy, dying(started, time.Now()), newer)
		c.pass(3 * time.Second)
		got := c.dryRun()
		if !strings.HasPrefix(got.WouldDo, "the Lease would be released for old: its container main ended at") || got.Leader != "new" {
			t.Errorf("the dry-run says %+v", got)
		}
		if lease := c.get("lease"); holderIdentity(lease) != holder {
			t.Error("the Lease was released")
		}
	})
}

// A policy is switched to and fro. An order that was given is taken back, and
// what was found is kept.
func TestDryRunIsSwitchedLive(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		older, newer := podOf("old", "v1.36.0"), podOf("new", "v1.37.0")
		use := func(mode v1alpha1.Mode, generation int64, objects ...runtime.Object) {
			policy := preempting(v1alpha1.PreemptForBetter)
			policy.Spec.Mode, policy.Generation = mode, generation
			c.elections.use(append(objects, policy)...)
			c.pass(200 * time.Millisecond)
		}
		use(v1alpha1.Enforce, 1, older, newer)
		acquired := time.Now()
		c.lease("lease", "new_1", acquired)
		c.start()
		c.renew("new_1", acquired, 70*time.Second)
		if c.order() != "new_1" || c.election("lease").Status.DryRun != nil {
			t.Fatalf("the order is %q", c.order())
		}

		use(v1alpha1.DryRun, 2, older, newer)
		c.renew("new_1", acquired, 4*time.Second)
		if c.order() != "" {
			t.Error("an order stands in dry-run")
		}
		c.renew("new_1", acquired, 5*time.Minute)
		before := c.dryRun()
		if before.Leader != "old" || before.Until != nil {
			t.Errorf("the dry-run says %+v", before)
		}
		terms := c.election("lease").Status.Terms

		use(v1alpha1.Enforce, 3, older, newer)
		c.renew("new_1", acquired, 6*time.Second)
		if c.order() != "new_1" {
			t.Error("nobody is told to step down")
		}
		after := c.dryRun()
		if after.Until == nil || after.WouldDo != "" || after.Leader != before.Leader || after.LeaderChanges != before.LeaderChanges || !after.Since.Equal(&before.Since) {
			t.Errorf("afterwards it says %+v", after)
		}
		if diff := cmp.Diff(terms, c.election("lease").Status.Terms); diff != "" {
			t.Errorf("the terms: %s", diff)
		}

		use(v1alpha1.DryRun, 4, older, newer)
		c.renew("new_1", acquired, 6*time.Second)
		again := c.dryRun()
		if again.Until != nil || again.Since.Equal(&before.Since) {
			t.Errorf("a second one says %+v", again)
		}
	})
}

// What another controller coordinates is no dry-run of ours.
func TestDryRunStandsAside(t *testing.T) {
	lease := held("a-0_uuid", 0, 5)
	strategy := coordinationv1.OldestEmulationVersion
	lease.Spec.Strategy = &strategy
	s := look(t, 6, lease, seen(lease, 6), rehearsed(policyOf("p", v1alpha1.OldestEmulationVersion)), podOf("a-0", "v1.36.0"))
	if status := s.status(); status.DryRun != nil {
		t.Errorf("it says %+v", status.DryRun)
	}
}
