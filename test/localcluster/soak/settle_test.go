package main

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// settledView is of a contest in which all is as it should be: the newer one of
// two versions leads.
func settledView() *view {
	c := contestOf("releases-1")
	v := &view{contest: c, leader: "new-1", policy: *c.policy()}
	pod := func(name, version string) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: electorImage + ":v" + version}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}}},
		}
	}
	v.pods.Items = []corev1.Pod{pod("old-1", oldVersion), pod("new-1", newVersion), pod("new-2", newVersion)}
	for _, s := range c.sets {
		v.deployments.Items = append(v.deployments.Items, appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: c.deployment(s)},
			Status:     appsv1.DeploymentStatus{UpdatedReplicas: s.replicas, Replicas: s.replicas, AvailableReplicas: s.replicas},
		})
	}
	v.election.Status = v1alpha1.ElectionStatus{
		Strategy: v1alpha1.NewestVersion, Chosen: "new-1", Holder: &v1alpha1.ElectionHolder{Name: "new-1"},
		Candidates: []v1alpha1.CandidateVerdict{
			{Name: "new-1", Eligible: true, Scores: []string{newVersion}}, {Name: "new-2", Eligible: true, Scores: []string{newVersion}},
			{Name: "old-1", Eligible: true, Scores: []string{oldVersion}},
		},
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}},
	}
	return v
}

func TestWhatIsNotAsItShouldBe(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus) func(*view) {
		return func(v *view) {
			v.election.Status.Conditions = append([]metav1.Condition{{Type: kind, Status: status}}, v.election.Status.Conditions...)
		}
	}
	for name, test := range map[string]struct {
		change func(*view)
		want   string
	}{
		"nothing":             {func(*view) {}, ""},
		"another one as good": {func(v *view) { v.election.Status.Chosen = "new-2" }, ""},
		"a worse one leads":   {func(v *view) { v.leader, v.election.Status.Holder.Name = "old-1", "old-1" }, "new-1 is chosen"},
		"another version is wanted": {func(v *view) {
			v.leader, v.election.Status.Holder.Name, v.election.Status.Chosen = "old-1", "old-1", "old-1"
		}, "version: 1.37.2 runs"},
		"nobody leads":                {func(v *view) { v.leader = "" }, "no elector says"},
		"the holder is another one":   {func(v *view) { v.leader = "new-2" }, "new-2 says that it leads, and the Election that new-1"},
		"one does not run":            {func(v *view) { v.pods.Items[0].Status.ContainerStatuses[0].State.Running = nil }, "2 of 3 electors run"},
		"one is ending":               {func(v *view) { v.pods.Items[0].DeletionTimestamp = new(metav1.Now()) }, "2 of 3 electors run"},
		"a rollout goes on":           {func(v *view) { v.deployments.Items[0].Status.UpdatedReplicas = 0 }, "the rollout of releases-1-36-3 goes on"},
		"the policy is not known yet": {func(v *view) { v.policy.Spec.Strategy.Name = v1alpha1.OldestEmulationVersion }, "does not know"},
		"an order is left":            {func(v *view) { v.lease.Annotations = map[string]string{v1alpha1.StepDownAnnotation: "x"} }, "order to step down, for x"},
		"it steps down":               {condition(v1alpha1.ConditionSteppingDown, metav1.ConditionTrue), "stepping down"},
		"it stepped down":             {condition(v1alpha1.ConditionSteppingDown, metav1.ConditionFalse), ""},
		"nobody may lead":             {condition(v1alpha1.ConditionNoEligibleCandidate, metav1.ConditionTrue), "NoEligibleCandidate"},
		"two policies":                {condition(v1alpha1.ConditionPolicyConflict, metav1.ConditionTrue), "PolicyConflict"},
		"not ready":                   {func(v *view) { v.election.Status.Conditions = nil }, "not Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			v := settledView()
			test.change(v)
			got := strings.Join(v.missing(), "; ")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
