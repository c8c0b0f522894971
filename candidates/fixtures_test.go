package candidates

import (
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// start is the moment of most tests.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// electionPolicy is a policy of namespace ns for the Lease "web" with the Pods
// app=web, changed by mutate.
func electionPolicy(name string, mutate ...func(*v1alpha1.ElectionPolicySpec)) *v1alpha1.ElectionPolicy {
	p := &v1alpha1.ElectionPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: KindElectionPolicy},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Generation: 1,
			CreationTimestamp: metav1.NewTime(start)},
		Spec: v1alpha1.ElectionPolicySpec{
			Leases:   v1alpha1.LeaseSelection{Names: []string{"web"}},
			Strategy: v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion},
			Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
				Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}},
		},
	}
	for _, m := range mutate {
		m(&p.Spec)
	}
	return p
}

func clusterPolicy(name string, mutate ...func(*v1alpha1.ClusterElectionPolicySpec)) *v1alpha1.ClusterElectionPolicy {
	p := &v1alpha1.ClusterElectionPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: KindClusterElectionPolicy},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("c-" + name), Generation: 1,
			CreationTimestamp: metav1.NewTime(start)},
		Spec: v1alpha1.ClusterElectionPolicySpec{ElectionPolicySpec: electionPolicy(name).Spec},
	}
	for _, m := range mutate {
		m(&p.Spec)
	}
	return p
}

func leaseNames(names ...string) func(*v1alpha1.ElectionPolicySpec) {
	return func(s *v1alpha1.ElectionPolicySpec) { s.Leases.Names = names }
}

// webPod is a running Pod of namespace ns with the labels app=web.
func webPod(name string, mutate ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{"app": "web"}, CreationTimestamp: metav1.NewTime(start)},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web", Image: "registry:5000/web:v1.2.3"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	for _, m := range mutate {
		m(pod)
	}
	return pod
}

func hostNetwork(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.HostNetwork, p.Spec.NodeName = true, node }
}

func leaseCandidate(name, binary, emulation string) *coordinationv1beta1.LeaseCandidate {
	return &coordinationv1beta1.LeaseCandidate{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1beta1", Kind: "LeaseCandidate"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.NewTime(start)},
		Spec: coordinationv1beta1.LeaseCandidateSpec{LeaseName: "web", BinaryVersion: binary, EmulationVersion: emulation,
			RenewTime: ptr(metav1.NewMicroTime(start))},
	}
}

func candidate(name string, mutate ...func(*v1alpha1.CandidateSpec)) *v1alpha1.Candidate {
	c := &v1alpha1.Candidate{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Candidate"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.NewTime(start)},
		Spec:       v1alpha1.CandidateSpec{LeaseName: "web"},
	}
	for _, m := range mutate {
		m(&c.Spec)
	}
	return c
}

// lease is the Lease "web", held by holder since start. An empty holder: it
// is released.
func lease(holder string) *coordinationv1.Lease {
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr(int32(15)),
			AcquireTime: ptr(metav1.NewMicroTime(start)), RenewTime: ptr(metav1.NewMicroTime(start))},
	}
	if holder != "" {
		l.Spec.HolderIdentity = &holder
	}
	return l
}

// boundTo is a user whose token is bound to a Pod.
func boundTo(namespace, pod, uid string) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{
		Username: "system:serviceaccount:" + namespace + ":web",
		Extra: map[string]authenticationv1.ExtraValue{
			"authentication.kubernetes.io/pod-name":  {pod},
			"authentication.kubernetes.io/pod-uid":   {uid},
			"authentication.kubernetes.io/node-name": {"node-1"},
		},
	}
}

var webKey = types.NamespacedName{Namespace: "ns", Name: "web"}

// setOf makes a set of objects.
func setOf(t testing.TB, objects ...runtime.Object) *ObjectSet {
	t.Helper()
	s := NewObjectSet()
	for _, o := range objects {
		if !s.Add(o) {
			t.Fatalf("%T is not used", o)
		}
	}
	for _, p := range s.Policies() {
		if len(p.Errors) > 0 {
			t.Fatalf("%s: %v", p.Ref, p.Errors)
		}
	}
	return s
}

// viewOf assembles the Lease "web" from objects.
func viewOf(t testing.TB, objects ...runtime.Object) *View {
	t.Helper()
	s := setOf(t, objects...)
	g := s.Governing(webKey)
	if g.Policy == nil {
		t.Fatal("no policy governs ns/web")
	}
	return Assemble(s, g, webKey, s.Lease(webKey), start)
}
