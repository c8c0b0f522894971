package behaviour

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// examining bounds how long it takes until doctor sees what is there. A dead
// leader's term of 15 s is the longest of it.
const examining = "60s"

// examine runs leasewarden doctor, and returns what it found as "check verdict"
// with the messages, and its exit status.
func examine(t *testing.T) (found map[string][]string, status int) {
	t.Helper()
	g := NewWithT(t)
	run := exec.CommandContext(t.Context(), program, "doctor", "--kubeconfig="+cluster.Kubeconfig(), "-o", "json")
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	_ = run.Run() // its exit status is what counts
	found = map[string][]string{}
	for decoder := json.NewDecoder(&stdout); decoder.More(); {
		var f struct{ Check, Verdict, Message string }
		g.Expect(decoder.Decode(&f)).To(Succeed())
		key := f.Check + " " + f.Verdict
		found[key] = append(found[key], f.Message)
	}
	g.Expect(found).NotTo(BeEmpty(), stderr.String())
	return found, run.ProcessState.ExitCode()
}

// finds waits until doctor finds that.
func finds(t *testing.T, finding, message string) {
	t.Helper()
	NewWithT(t).Eventually(func(g Gomega) {
		found, status := examine(t)
		g.Expect(found).To(HaveKeyWithValue(finding, ContainElement(ContainSubstring(message))))
		g.Expect(status).To(Equal(1))
	}, examining, often).Should(Succeed())
}

// healthy waits until doctor finds no problem. That of a contest which another
// test has left is over soon.
func healthy(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func(g Gomega) {
		found, status := examine(t)
		for _, check := range []string{"crds", "replicas", "leader", "webhook", "certificates", "reachable", "registration", "ruling", "other webhooks", "clock"} {
			g.Expect(found).To(HaveKey(check + " ok"))
		}
		g.Expect(status).To(BeZero(), "%v", found)
	}, examining, often).Should(Succeed())
}

// Of an installation that works doctor finds nothing wrong, and it says what is
// as soon as something is.
func TestDoctor(t *testing.T) {
	// Not parallel: it breaks Leasewarden for all.
	g := NewWithT(t)
	c := newContest(t, slow)
	c.govern(byVersion, func(spec *v1alpha1.ElectionPolicySpec) { spec.FailurePolicy = v1alpha1.Fail })
	c.keep("a", older, "node-1")
	c.leads("a")
	holder := c.identity()
	healthy(t)

	webhooks := kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	strict := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "strict"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "strict.example.com",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://localhost:1/")},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			// Not updates: nobody here shall lose a Lease by a webhook that nobody
			// serves.
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"leases"}},
			}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "kube-system"}},
		}},
	}
	_, err := webhooks.Create(t.Context(), strict, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = webhooks.Delete(context.Background(), strict.Name, metav1.DeleteOptions{}) })
	finds(t, "other webhooks problem", "ValidatingWebhookConfiguration strict, webhook strict.example.com, intercepts writes of Leases in kube-system and has failurePolicy Fail")
	g.Expect(webhooks.Delete(t.Context(), strict.Name, metav1.DeleteOptions{})).To(Succeed())

	restore := forbidRegistration(t)
	g.Eventually(func() error { return distrust(t) }, soon, often).Should(Succeed())
	finds(t, "certificates problem", "does not trust")
	finds(t, "reachable problem", "does not answer")
	restore()

	g.Expect(warden.Kill()).To(Succeed())
	t.Cleanup(func() { g.Expect(warden.Start(context.Background())).To(Succeed()) })
	finds(t, "reachable problem", "does not answer")
	finds(t, "ruling problem", "failed calling webhook")
	finds(t, "leader problem", "has not renewed")
	revive(g)
	healthy(t)
	c.awaitRenewals(2)
	g.Expect(c.identity()).To(Equal(holder), "it never lost the Lease")
}

// forbidRegistration takes the right to register the webhook from Leasewarden,
// until restore is called.
func forbidRegistration(t *testing.T) (restore func()) {
	t.Helper()
	g := NewWithT(t)
	roles := kube.RbacV1().ClusterRoles()
	change := func(ctx context.Context, change func(*rbacv1.PolicyRule)) {
		role, err := roles.Get(ctx, "leasewarden", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for i := range role.Rules {
			if r := &role.Rules[i]; slices.Contains(r.APIGroups, admissionregistrationv1.GroupName) && slices.Contains(r.Verbs, "watch") {
				change(r)
			}
		}
		_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	change(t.Context(), func(r *rbacv1.PolicyRule) {
		r.Verbs = slices.DeleteFunc(r.Verbs, func(verb string) bool { return verb == "update" })
	})
	restore = sync.OnceFunc(func() {
		change(context.Background(), func(r *rbacv1.PolicyRule) { r.Verbs = append(r.Verbs, "update") })
	})
	t.Cleanup(restore)
	return restore
}

// distrust has the API server trust another CA than Leasewarden's. It fails as
// long as that is put back.
func distrust(t *testing.T) error {
	webhooks := kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	c, err := webhooks.Get(t.Context(), "leasewarden", metav1.GetOptions{})
	if err != nil {
		return err
	}
	another := cluster.Config().CAData
	if bytes.Equal(c.Webhooks[0].ClientConfig.CABundle, another) {
		return nil
	}
	for i := range c.Webhooks {
		c.Webhooks[i].ClientConfig.CABundle = another
	}
	if _, err := webhooks.Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return errors.New("see whether it stays so")
}
