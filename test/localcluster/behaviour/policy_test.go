package behaviour

import (
	"errors"
	"strings"
	"time"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

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
				Version:  &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{Container: container}},
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
	NewWithT(c.t).Eventually(c.named, soon, often).Should(BeTrue())
}

// named reports whether the webhook configurations name the contest's namespace.
func (c *contest) named() (bool, error) {
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfigurationList{}, &admissionregistrationv1.MutatingWebhookConfigurationList{}
	if err := errors.Join(client.List(c.t.Context(), validating), client.List(c.t.Context(), mutating)); err != nil {
		return false, err
	}
	return strings.Contains(validating.String()+mutating.String(), c.namespace), nil
}

var byVersion = v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion}

// edit changes the policy as it is now.
func (c *contest) edit(policy *v1alpha1.ElectionPolicy, change func(*v1alpha1.ElectionPolicySpec)) {
	c.t.Helper()
	NewWithT(c.t).Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := client.Get(c.t.Context(), ctrlclient.ObjectKeyFromObject(policy), policy); err != nil {
			return err
		}
		change(&policy.Spec)
		return client.Update(c.t.Context(), policy)
	})).To(Succeed())
}

// patient has a vacant Lease wait for its chosen candidate for longer than any
// test takes.
func patient(spec *v1alpha1.ElectionPolicySpec) {
	spec.AcquireDeadline = &metav1.Duration{Duration: time.Hour}
}

// withoutPods leaves the candidates that are registered otherwise.
func withoutPods(spec *v1alpha1.ElectionPolicySpec) { spec.Candidates.Pods = nil }

// chosen is the refusal of a candidate before which another one is chosen.
func chosen(name, criterion string) OmegaMatcher {
	return ContainSubstring("is not chosen: %s is chosen by %s", name, criterion)
}
