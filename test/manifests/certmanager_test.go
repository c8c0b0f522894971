package manifests

import (
	"crypto/x509"
	"slices"
	"strings"
	"testing"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

const certManagerOverlay = "overlays/cert-manager"

// What cert-manager issues is what the API server calls, and is where it is read.
func TestCertManagerIssuesWhatIsServed(t *testing.T) {
	g := NewWithT(t)
	all := kustomize(t, certManagerOverlay)
	spec := get[*appsv1.Deployment](t, all).Spec.Template.Spec
	container := spec.Containers[0]
	flag := func(name string) string {
		for _, arg := range container.Args {
			if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
				return value
			}
		}
		t.Fatalf("there is no --%s", name)
		return ""
	}
	certificate := typed(t, all["Certificate "+flag("inject-ca-from")]).(*cmv1.Certificate)
	service := get[*corev1.Service](t, all)
	g.Expect((&x509.Certificate{DNSNames: certificate.Spec.DNSNames}).VerifyHostname(service.Name + "." + service.Namespace + ".svc")).To(Succeed())
	g.Expect(certificate.Spec.Usages).To(ContainElement(cmv1.UsageServerAuth))

	g.Expect(spec.Volumes).To(HaveLen(1))
	g.Expect(spec.Volumes[0].Secret.SecretName).To(Equal(certificate.Spec.SecretName))
	g.Expect(container.VolumeMounts).To(HaveLen(1))
	g.Expect(container.VolumeMounts[0].Name).To(Equal(spec.Volumes[0].Name))
	g.Expect(flag("tls-cert-file")).To(Equal(container.VolumeMounts[0].MountPath + "/tls.crt"))
	g.Expect(flag("tls-private-key-file")).To(Equal(container.VolumeMounts[0].MountPath + "/tls.key"))

	issuer := typed(t, all["Issuer "+namespace+"/"+certificate.Spec.IssuerRef.Name]).(*cmv1.Issuer)
	root := typed(t, all["Certificate "+namespace+"/leasewarden-root"]).(*cmv1.Certificate)
	g.Expect(root.Spec.IsCA).To(BeTrue())
	g.Expect(issuer.Spec.CA.SecretName).To(Equal(root.Spec.SecretName))
	g.Expect(root.Spec.SecretName).NotTo(Equal("leasewarden-ca"), "that one is of self-managed certificates")
	g.Expect(all).To(HaveKey("Issuer " + namespace + "/" + root.Spec.IssuerRef.Name))
}

// The overlay changes nothing else, but takes away the right to Secrets.
func TestCertManagerNeedsNoRightToSecrets(t *testing.T) {
	g := NewWithT(t)
	before, after := get[*rbacv1.Role](t, kustomize(t, "default")), get[*rbacv1.Role](t, kustomize(t, certManagerOverlay))
	want := slices.DeleteFunc(before.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "secrets") })
	g.Expect(after.Rules).To(Equal(want))

	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	template := get[*appsv1.Deployment](t, kustomize(t, certManagerOverlay)).Spec.Template
	at := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(at, &template.ObjectMeta, &template.Spec) {
		g.Expect(result.Allowed).To(BeTrue(), "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
	}
}
