package terms

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestRegistrationHasCAsInjected(t *testing.T) {
	g := NewWithT(t)
	f := newRegistration(t, policy("kube-system", "control-plane", v1alpha1.Enforce, "kube-scheduler"))
	f.InjectCAFrom = "leasewarden-system/leasewarden"
	f.run(t)
	g.Expect(f.validating(t).Annotations).To(HaveKeyWithValue("cert-manager.io/inject-ca-from", "leasewarden-system/leasewarden"))
	g.Expect(f.mutating(t).Annotations).To(HaveKeyWithValue("cert-manager.io/inject-ca-from", "leasewarden-system/leasewarden"))
	f.writes = 0
	f.run(t)
	g.Expect(f.writes).To(BeZero())

	theirs := f.validating(t)
	theirs.Annotations["theirs"] = "kept"
	g.Expect(f.Client.Update(t.Context(), theirs)).To(Succeed())
	f.InjectCAFrom = ""
	f.run(t)
	g.Expect(f.validating(t).Annotations).To(Equal(map[string]string{"theirs": "kept"}))
	g.Expect(f.mutating(t).Annotations).To(BeEmpty())
}
