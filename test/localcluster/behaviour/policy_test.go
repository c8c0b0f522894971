package behaviour

import (
	"bufio"
	"os"
	"strings"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// govern puts the contest's Lease under a policy, and waits until the API
// server asks about it.
func (c *contest) govern(strategy v1alpha1.Strategy, change ...func(*v1alpha1.ElectionPolicySpec)) *v1alpha1.ElectionPolicy {
	c.t.Helper()
	policy := &v1alpha1.ElectionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "policy", Namespace: c.namespace},
		Spec: v1alpha1.ElectionPolicySpec{
			Leases: v1alpha1.LeaseSelection{Names: []string{c.namespace}},
			Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
				Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": c.namespace}},
				Version:  &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{Container: "kube-scheduler"}},
			}},
			Strategy: strategy,
		},
	}
	for _, f := range change {
		f(&policy.Spec)
	}
	NewWithT(c.t).Expect(client.Create(c.t.Context(), policy)).To(Succeed())
	c.registered()
	return policy
}

// registered waits until the webhook configuration names the contest's
// namespace.
func (c *contest) registered() {
	c.t.Helper()
	NewWithT(c.t).Eventually(func(g Gomega) {
		list := &admissionregistrationv1.ValidatingWebhookConfigurationList{}
		g.Expect(client.List(c.t.Context(), list)).To(Succeed())
		text := ""
		for _, configuration := range list.Items {
			text += configuration.String()
		}
		g.Expect(text).To(ContainSubstring(c.namespace))
	}, soon, often).Should(Succeed())
}

var byVersion = v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion}

// linesWith returns the lines of a file that contain text.
func linesWith(path, text string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	found := &strings.Builder{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.Contains(lines.Text(), text) {
			found.WriteString(lines.Text() + "\n")
		}
	}
	return found.String()
}
