package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	// settling is how long it may take after a fault until all is as it should be:
	// a node's watches are tried again up to half a minute after the API server's
	// return, and then rollouts and orders to step down take their time.
	settling = 3 * time.Minute
	// quiet is for how long all must be as it should be.
	quiet = 2 * time.Second
)

// settle waits until all is as it should be, for a while, and returns what is not
// when the time is over.
func (s *scene) settle(ctx context.Context) (missing []string, err error) {
	var since time.Time
	said := ""
	err = until(ctx, settling, func() bool {
		missing = s.unsettled(ctx)
		if text := strings.Join(missing, "; "); text != said {
			s.journal.add(time.Now(), "settling", "%s", cmp.Or(text, "all is as it should be"))
			said = text
		}
		if len(missing) > 0 {
			since = time.Time{}
			return false
		}
		if since.IsZero() {
			since = time.Now()
		}
		return time.Since(since) >= quiet
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		return nil, nil
	}
	return missing, nil
}

// unsettled says what is not as it should be.
func (s *scene) unsettled(ctx context.Context) []string {
	var missing []string
	for _, c := range contests {
		v, err := s.view(ctx, c)
		if err != nil {
			return []string{err.Error()}
		}
		s.relieve(ctx, v)
		for _, text := range v.missing() {
			missing = append(missing, c.name+": "+text)
		}
	}
	return missing
}

// view is what the API server says of a contest, and who leads by the electors'
// own words.
type view struct {
	contest     *contest
	leader      string
	lease       coordinationv1.Lease
	election    v1alpha1.Election
	policy      v1alpha1.ElectionPolicy
	pods        corev1.PodList
	deployments appsv1.DeploymentList
}

func (s *scene) view(ctx context.Context, c *contest) (*view, error) {
	v := &view{contest: c, leader: s.observer.leader(c)}
	key := ctrlclient.ObjectKey{Namespace: namespace, Name: c.name}
	in, with := ctrlclient.InNamespace(namespace), ctrlclient.MatchingLabels(c.labels())
	client := s.site.client
	if err := client.Get(ctx, key, &v.lease); err != nil {
		return nil, err
	}
	if err := client.Get(ctx, key, &v.election); err != nil {
		return nil, err
	}
	if err := client.Get(ctx, key, &v.policy); err != nil {
		return nil, err
	}
	if err := client.List(ctx, &v.pods, in, with); err != nil {
		return nil, err
	}
	return v, client.List(ctx, &v.deployments, in)
}

func (v *view) missing() []string {
	var missing []string
	add := func(format string, args ...any) { missing = append(missing, fmt.Sprintf(format, args...)) }
	if v.election.Status.Strategy != v.policy.Spec.Strategy.Name {
		add("the Election does not know of the policy's strategy %s yet", v.policy.Spec.Strategy.Name)
	}
	running, oldest, newest := v.running()
	if want := v.contest.replicas(); running != want || len(v.pods.Items) != want {
		add("%d of %d electors run, of %d Pods", running, want, len(v.pods.Items))
	}
	for _, set := range v.contest.sets {
		if !v.rolledOut(v.contest.deployment(set), set.replicas) {
			add("the rollout of %s goes on", v.contest.deployment(set))
		}
	}
	status := &v.election.Status
	switch holder := status.Holder; {
	case v.leader == "":
		add("no elector says that it leads")
	case holder == nil || holder.Name != v.leader:
		add("%s says that it leads, and the Election that %s holds the Lease", v.leader, name(holder))
	case v.contest.spec.Preemption.When != v1alpha1.PreemptNever && !v.asGood(v.leader, status.Chosen):
		add("%s leads, and %s is chosen", v.leader, status.Chosen)
	}
	for _, pod := range v.pods.Items {
		if pod.Name != v.leader {
			continue
		}
		if want := preferred(status.Strategy, oldest, newest); want != "" && versionOf(&pod) != want {
			add("%s leads with version %s, and %s goes by version: %s runs", v.leader, versionOf(&pod), status.Strategy, want)
		}
	}
	if order := v.lease.Annotations[v1alpha1.StepDownAnnotation]; order != "" {
		add("the Lease has an order to step down, for %s", order)
	}
	if meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionSteppingDown) {
		add("the Election says that the holder is stepping down")
	}
	return append(missing, v.conditions()...)
}

// asGood reports whether the leader is the chosen one, or has the same scores: being
// older is not enough to have a leader make way.
func (v *view) asGood(leader, chosen string) bool {
	scores := func(name string) []string {
		for _, c := range v.election.Status.Candidates {
			if c.Name == name && c.Eligible {
				return c.Scores
			}
		}
		return nil
	}
	of := scores(leader)
	return leader == chosen || len(of) > 0 && slices.Equal(of, scores(chosen))
}

// conditions are those that say that something is wrong.
func (v *view) conditions() []string {
	var missing []string
	conditions := v.election.Status.Conditions
	for _, kind := range []string{v1alpha1.ConditionNoEligibleCandidate, v1alpha1.ConditionPolicyConflict} {
		if c := meta.FindStatusCondition(conditions, kind); c != nil && c.Status == "True" {
			missing = append(missing, fmt.Sprintf("the Election says %s: %s", kind, c.Message))
		}
	}
	if !meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReady) {
		missing = append(missing, "the Election is not Ready")
	}
	return missing
}

// running counts the Pods whose elector runs, with their oldest and newest version.
func (v *view) running() (n int, oldest, newest string) {
	for i := range v.pods.Items {
		pod := &v.pods.Items[i]
		statuses := pod.Status.ContainerStatuses
		if pod.DeletionTimestamp != nil || len(statuses) != 1 || statuses[0].State.Running == nil {
			continue
		}
		n++
		version := versionOf(pod)
		if oldest == "" || older(version, oldest) {
			oldest = version
		}
		if newest == "" || older(newest, version) {
			newest = version
		}
	}
	return n, oldest, newest
}

// preferred is the version that a strategy goes by, "" if it goes by none.
func preferred(strategy v1alpha1.StrategyName, oldest, newest string) string {
	switch strategy {
	case v1alpha1.OldestEmulationVersion:
		return oldest
	case v1alpha1.NewestVersion:
		return newest
	}
	return ""
}

func (v *view) rolledOut(deployment string, replicas int32) bool {
	for _, d := range v.deployments.Items {
		if d.Name == deployment {
			s := d.Status
			return s.ObservedGeneration == d.Generation && s.UpdatedReplicas == replicas && s.Replicas == replicas && s.AvailableReplicas == replicas
		}
	}
	return false
}

func versionOf(pod *corev1.Pod) string {
	_, version, _ := strings.Cut(pod.Spec.Containers[0].Image, ":v")
	return version
}

// older reports whether a is an older version than b.
func older(a, b string) bool {
	order, err := utilversion.MustParseGeneric(b).Compare(a)
	return err == nil && order > 0
}

func name(h *v1alpha1.ElectionHolder) string {
	if h == nil {
		return "nobody"
	}
	return h.Name
}
