package manifests

import (
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// The namespace enforces the restricted Pod Security Standard.
func TestPodsAreRestricted(t *testing.T) {
	g := NewWithT(t)
	all := kustomize(t, "default")
	level := get[*corev1.Namespace](t, all).Labels["pod-security.kubernetes.io/enforce"]
	g.Expect(level).To(BeEquivalentTo(podsecurity.LevelRestricted))
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	template := get[*appsv1.Deployment](t, all).Spec.Template
	at := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(at, &template.ObjectMeta, &template.Spec) {
		g.Expect(result.Allowed).To(BeTrue(), "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
	}
	g.Expect(*template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
}

// One of the replicas outlives a drain, a rollout and the loss of a node.
func TestAReplicaStays(t *testing.T) {
	g := NewWithT(t)
	all := kustomize(t, "default")
	deployment := get[*appsv1.Deployment](t, all)
	g.Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(2))
	g.Expect(*deployment.Spec.Strategy.RollingUpdate.MaxUnavailable).To(Equal(intstr.FromInt32(0)))
	template := deployment.Spec.Template
	g.Expect(template.Spec.TopologySpreadConstraints[0].TopologyKey).To(Equal(corev1.LabelHostname))
	g.Expect(template.Spec.PriorityClassName).To(Equal("system-cluster-critical"))
	g.Expect(template.Spec.Containers[0].Resources.Requests).To(And(HaveKey(corev1.ResourceCPU), HaveKey(corev1.ResourceMemory)))

	budget := get[*policyv1.PodDisruptionBudget](t, all).Spec
	g.Expect(*budget.MaxUnavailable).To(Equal(intstr.FromInt32(1)))
	for _, selector := range []*metav1.LabelSelector{deployment.Spec.Selector, budget.Selector, template.Spec.TopologySpreadConstraints[0].LabelSelector} {
		s, err := metav1.LabelSelectorAsSelector(selector)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.Matches(labels.Set(template.Labels))).To(BeTrue(), selector.String())
	}
}

// The Service leads to the webhook.
func TestServicePort(t *testing.T) {
	g := NewWithT(t)
	all := kustomize(t, "default")
	service, template := get[*corev1.Service](t, all), get[*appsv1.Deployment](t, all).Spec.Template
	g.Expect(labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(template.Labels))).To(BeTrue())
	names := map[string]int32{}
	for _, port := range template.Spec.Containers[0].Ports {
		names[port.Name] = port.ContainerPort
	}
	g.Expect(service.Spec.Ports).To(HaveLen(1))
	g.Expect(service.Spec.Ports[0].Port).To(BeEquivalentTo(443))
	g.Expect(names).To(HaveKeyWithValue(service.Spec.Ports[0].TargetPort.String(), BeEquivalentTo(9443)))
}

// Every overlay runs: the binary knows the arguments that it is given.
func TestArguments(t *testing.T) {
	g := NewWithT(t)
	program := filepath.Join(t.TempDir(), "leasewarden")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/leasewarden")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	dirs, err := filepath.Glob(manifestsDir + "overlays/*")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(dirs).NotTo(BeEmpty())
	for _, dir := range append(dirs, manifestsDir+"default") {
		dir, err := filepath.Rel(manifestsDir, dir)
		g.Expect(err).NotTo(HaveOccurred())
		container := get[*appsv1.Deployment](t, kustomize(t, dir)).Spec.Template.Spec.Containers[0]
		g.Expect(container.Command).To(Equal([]string{"leasewarden"}))
		// --help says no more than that the other flags are known.
		out, err := exec.CommandContext(t.Context(), program, append(container.Args, "--help")...).CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), "%s: %q: %s", dir, container.Args, out)
	}
	g.Expect(exec.CommandContext(t.Context(), program, "serve", "--no-such-flag", "--help").Run()).NotTo(Succeed())
}
