package behaviour

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// again bounds how long it takes until Leasewarden knows of CRDs that are back:
// watches are tried again ever more seldom.
const again = "90s"

func onlyCRDs(o *unstructured.Unstructured) bool { return o.GetKind() == "CustomResourceDefinition" }

// manifests is what people install from.
func manifests() string { return filepath.Join(repository, "manifests", "default") }

// Without the CRDs there are no policies. Nothing of theirs stays in force, nobody
// loses a Lease, and no Lease stays vacant. Once they are back, all is as before.
func TestElectionsGoOnWithoutTheCRDs(t *testing.T) {
	// Not parallel: it takes the policies away from all.
	g := NewWithT(t)
	c, dying := newContest(t, slow), newContest(t, quick)
	govern := func() {
		c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
		dying.govern(byVersion, patient)
	}
	govern()
	dying.keep("a", older, "node-1")
	dying.leads("a")
	dying.keep("b", newer, "node-2")
	c.keep("new", newer, "node-1")
	c.leads("new")
	holder := c.identity()
	c.idle("old", older, "node-2")
	g.Eventually(c.order, soon, often).Should(Equal(holder))

	t.Cleanup(func() {
		g.Expect(installation.Apply(context.Background(), cluster.Config(), manifests(), onlyCRDs)).To(Succeed())
	})
	g.Expect(installation.Delete(t.Context(), cluster.Config(), manifests(), onlyCRDs)).To(Succeed())
	g.Eventually(func(g Gomega) { g.Expect(c.annotations(g)).To(BeEmpty()) }, soon, often).Should(Succeed())
	g.Eventually(c.named, soon, often).Should(BeFalse())
	c.awaitRenewals(5)
	g.Expect(c.identity()).To(Equal(holder), "it never lost the Lease")
	dying.allRun()
	dying.succeeds(dying.kill(), quick.LeaseDuration)

	g.Expect(installation.Apply(t.Context(), cluster.Config(), manifests(), onlyCRDs)).To(Succeed())
	g.Eventually(func() error { return client.List(t.Context(), &v1alpha1.ElectionPolicyList{}) }, soon, often).Should(Succeed())
	govern()
	g.Eventually(c.order, again, often).Should(Equal(holder))
	g.Eventually(c.stepping, again, often).Should(Equal("DenyingRenewals"), "the Elections are there again, too")
}

// Whoever runs uninstall and then deletes the manifests finds nothing of
// Leasewarden's in the cluster after that, and has lost no leader. It does not
// matter whether Leasewarden still runs.
func TestUninstallLeavesNothing(t *testing.T) {
	// Not parallel: it takes Leasewarden away from all.
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	c.keep("new", newer, "node-1")
	c.leads("new")
	holder := c.identity()
	c.idle("old", older, "node-2")
	g.Eventually(c.order, soon, often).Should(Equal(holder))

	g.Expect(warden.Kill()).To(Succeed())
	t.Cleanup(func() {
		g.Expect(warden.Kill()).To(Succeed())
		var err error
		warden, err = installation.Install(context.Background(), cluster, installation.Options{Repository: repository, Program: program, Replicas: 2})
		g.Expect(err).NotTo(HaveOccurred())
	})
	uninstall(t)
	g.Expect(marked()).To(BeEmpty())
	g.Expect(unregistered(t)).To(BeTrue())

	revive(g)
	c.govern(byVersion, preempting(v1alpha1.DenyRenewal))
	g.Eventually(c.order, soon, often).Should(Equal(holder))
	uninstall(t)
	g.Expect(marked()).To(BeEmpty())
	everything := func(*unstructured.Unstructured) bool { return true }
	g.Expect(installation.Delete(t.Context(), cluster.Config(), manifests(), everything)).To(Succeed())
	g.Eventually(unregistered, electing, often).WithArguments(t).Should(BeTrue(), "the registrations go with the Namespace")
	g.Expect(marked()).To(BeEmpty())
	c.awaitRenewals(5)
	g.Expect(c.identity()).To(Equal(holder), "it never lost the Lease")
}

// uninstall runs the command of this name.
func uninstall(t *testing.T) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), program, "uninstall", "--yes", "--kubeconfig="+cluster.Kubeconfig()).CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(output))
}

// unregistered reports whether there is no webhook configuration of Leasewarden.
func unregistered(t *testing.T) bool {
	_, validating := kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "leasewarden", metav1.GetOptions{})
	_, mutating := kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "leasewarden", metav1.GetOptions{})
	return apierrors.IsNotFound(validating) && apierrors.IsNotFound(mutating)
}

// marked are the Leases that have an annotation of ours.
func marked() (names []string, err error) {
	leases, err := kube.CoordinationV1().Leases("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, lease := range leases.Items {
		for key := range lease.Annotations {
			if strings.HasPrefix(key, v1alpha1.GroupVersion.Group+"/") {
				names = append(names, lease.Namespace+"/"+lease.Name+": "+key)
			}
		}
	}
	return names, nil
}
