package terms

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

func TestRegistrationSaysWhichPoliciesAreRegistered(t *testing.T) {
	g := NewWithT(t)
	p := policy("ns", "p", v1alpha1.Enforce, "web")
	f := newRegistration(t, p)
	told := 0
	f.Subscribe(func() { told++ })
	compiled := candidates.CompilePolicy(p)
	g.Expect(f.Problem(compiled)).To(ContainSubstring("about to be registered"))

	f.refuse = errors.New("etcdserver: request is too large")
	_, err := f.Reconcile(logr.NewContext(t.Context(), logr.Discard()), ctrl.Request{})
	g.Expect(err).To(HaveOccurred())
	g.Expect(f.Problem(compiled)).To(Equal("the webhook cannot be registered for it: etcdserver: request is too large"))
	g.Expect(told).To(Equal(1))

	f.refuse = nil
	f.run(t)
	f.run(t)
	g.Expect(f.Problem(compiled)).To(BeEmpty())
	g.Expect(told).To(Equal(2), "the same again is no news")

	// What was registered still is, the next generation is not.
	p.Generation++
	p.Spec.Leases.Names = []string{"other"}
	g.Expect(f.Client.Update(t.Context(), p)).To(Succeed())
	f.refuse = errors.New("forbidden")
	_, err = f.Reconcile(logr.NewContext(t.Context(), logr.Discard()), ctrl.Request{})
	g.Expect(err).To(HaveOccurred())
	g.Expect(f.Problem(compiled)).To(BeEmpty())
	g.Expect(f.Problem(candidates.CompilePolicy(p))).To(ContainSubstring("forbidden"))

	// Somebody deletes it, and it cannot be made anew.
	f.refuse = nil
	g.Expect(f.Client.Delete(t.Context(), f.validating(t))).To(Succeed())
	f.refuse = errors.New("forbidden")
	_, err = f.Reconcile(logr.NewContext(t.Context(), logr.Discard()), ctrl.Request{})
	g.Expect(err).To(HaveOccurred())
	g.Expect(f.Problem(compiled)).To(ContainSubstring("forbidden"))
}

// fakeRegistered is a Registered that tests tell what there is.
type fakeRegistered struct {
	problem string
	handler func()
}

func (f *fakeRegistered) Problem(*candidates.Policy) string { return f.problem }
func (f *fakeRegistered) Subscribe(handle func())           { f.handler = handle }

// A policy says that it is in effect only while it is.
func TestPolicySaysWhetherItIsRegistered(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		policy := policyOf("p", v1alpha1.FirstCome)
		c.must(c.Create(t.Context(), policy.DeepCopy()))
		c.elections.use(policy)
		c.registered = &fakeRegistered{problem: "etcdserver: request is too large"}
		c.start()
		ready := func() (bool, string) {
			t.Helper()
			c.pass(2 * settling)
			var p v1alpha1.ElectionPolicy
			c.must(c.Get(t.Context(), client.ObjectKeyFromObject(policy), &p))
			r := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady)
			return r.Status == "True", r.Message
		}
		if yes, message := ready(); yes || !strings.Contains(message, "request is too large") {
			t.Errorf("it says %t, %s", yes, message)
		}
		c.registered.problem = ""
		c.registered.handler()
		if yes, message := ready(); !yes {
			t.Errorf("it says %t, %s", yes, message)
		}
	})
}
