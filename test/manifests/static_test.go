package manifests

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/terms"
	"github.com/leasewarden/leasewarden/webhook"
)

const (
	staticOverlay  = "overlays/static-webhook"
	staticWebhooks = manifestsDir + staticOverlay + "/webhooks.yaml"
	staticHeader   = `# What Leasewarden registers for a ClusterElectionPolicy that selects every Lease.
# Narrow it down by the matches() at the end of each condition, or by the
# namespaceSelector. It is generated:
# go -C test/manifests test -run TestStaticWebhooks -update
`
)

// noCA leaves the CA to cert-manager's cainjector.
type noCA struct{}

func (noCA) Bundle([]byte) ([]byte, time.Duration, error) { return nil, 0, nil }

// registered are the webhook configurations that Leasewarden makes for a policy
// that selects every Lease, without what is of one cluster.
func registered(t *testing.T) []client.Object {
	t.Helper()
	all := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(all))
	utilruntime.Must(admissionregistrationv1.AddToScheme(all))
	utilruntime.Must(v1alpha1.AddToScheme(all))
	policy := &v1alpha1.ClusterElectionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "everything"}}
	policy.Spec.Leases.Names = []string{"*"}
	policy.Spec.Strategy.Name = v1alpha1.FirstCome
	own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	c := fake.NewClientBuilder().WithScheme(all).WithObjects(policy, own).Build()
	r := &terms.Registration{
		Client: c, Namespaces: c, Namespace: namespace, Trust: noCA{}, InjectCAFrom: namespace + "/leasewarden",
		Endpoint: terms.Endpoint{
			Namespace: namespace, Service: "leasewarden",
			ValidateLease: webhook.ValidateLeasePath, MutateLease: webhook.MutateLeasePath, ValidatePolicy: webhook.ValidatePolicyPath,
		},
	}
	if _, err := r.Reconcile(context.Background(), ctrl.Request{}); err != nil {
		t.Fatal(err)
	}
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	for kind, o := range map[string]client.Object{"ValidatingWebhookConfiguration": validating, "MutatingWebhookConfiguration": mutating} {
		if err := c.Get(t.Context(), client.ObjectKey{Name: terms.ConfigurationName}, o); err != nil {
			t.Fatal(err)
		}
		o.SetResourceVersion("")
		o.SetOwnerReferences(nil)
		o.SetLabels(map[string]string{"app.kubernetes.io/name": "leasewarden"})
		o.GetObjectKind().SetGroupVersionKind(admissionregistrationv1.SchemeGroupVersion.WithKind(kind))
	}
	return []client.Object{validating, mutating}
}

// The static webhook configurations are those that Leasewarden would register.
func TestStaticWebhooks(t *testing.T) {
	text := staticHeader
	for i, o := range registered(t) {
		data, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			text += "---\n"
		}
		text += strings.ReplaceAll(string(data), "  creationTimestamp: null\n", "")
	}
	if *update {
		if err := os.WriteFile(staticWebhooks, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(staticWebhooks)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(text, string(got)); diff != "" {
		t.Errorf("%s is out of date, run: go -C test/manifests test -run TestStaticWebhooks -update\n%s", staticWebhooks, diff)
	}
}

// Nobody but cert-manager's cainjector writes them: Leasewarden has no right to,
// and does not try to.
func TestStaticWebhooksAreLeftAlone(t *testing.T) {
	g := NewWithT(t)
	all := kustomize(t, staticOverlay)
	g.Expect(all).To(HaveKey("ValidatingWebhookConfiguration /" + terms.ConfigurationName))
	g.Expect(all).To(HaveKey("MutatingWebhookConfiguration /" + terms.ConfigurationName))
	args := get[*appsv1.Deployment](t, all).Spec.Template.Spec.Containers[0].Args
	g.Expect(args).To(ContainElement("--manage-webhook-configuration=false"))
	g.Expect(args).NotTo(ContainElement(HavePrefix("--inject-ca-from")))

	without := func(rules []rbacv1.PolicyRule, resource string) []rbacv1.PolicyRule {
		return slices.DeleteFunc(slices.Clone(rules), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, resource) })
	}
	roles := func(dir string) (cluster, own []rbacv1.PolicyRule) {
		built := kustomize(t, dir)
		return typed(t, built["ClusterRole /leasewarden"]).(*rbacv1.ClusterRole).Rules,
			typed(t, built[fmt.Sprintf("Role %s/leasewarden", namespace)]).(*rbacv1.Role).Rules
	}
	cluster, own := roles(certManagerOverlay)
	staticCluster, staticOwn := roles(staticOverlay)
	g.Expect(len(staticCluster)).To(BeNumerically("<", len(cluster)))
	g.Expect(staticCluster).To(Equal(without(cluster, "mutatingwebhookconfigurations")))
	g.Expect(staticOwn).To(Equal(without(own, "namespaces")))
}
