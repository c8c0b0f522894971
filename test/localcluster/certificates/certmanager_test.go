package certificates

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// webhookHost is what the API server calls.
const webhookHost = "leasewarden.leasewarden-system.svc"

// What is installed by the overlay runs on certificates that the real
// cert-manager issues, injects and renews. No call fails meanwhile.
func TestCertManager(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, func(o *localcluster.Options, program string) {
		o.Nodes = []localcluster.Node{{Name: "node-1"}, {Name: "node-2"}}
		o.Images = map[string]string{"leasewarden:latest": program}
	})
	s.startCertManager()
	err := installation.Apply(t.Context(), s.Config(), filepath.Join(repository, "manifests", "overlays", "cert-manager"), onLoopback(t))
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(s.podAddresses, soon, often).Should(HaveLen(2), "both replicas are ready")
	s.govern()

	g.Eventually(func() error { return s.attempt(t.Context()) }, soon, often).Should(Succeed())
	configuration, err := s.configuration(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(configuration.Annotations).To(HaveKeyWithValue("cert-manager.io/inject-ca-from", "leasewarden-system/leasewarden"))
	root := s.secret("leasewarden-root")
	g.Expect(s.bundle(t.Context())).To(Equal(root.Data["ca.crt"]))
	a := s.attemptForever(s.everyPodIsTrusted)

	before := s.secret("leasewarden-tls")
	s.renew("leasewarden", before)
	s.served("a renewed certificate")
	g.Expect(s.bundle(t.Context())).To(Equal(root.Data["ca.crt"]), "the CA is the same")

	s.renew("leasewarden-root", root)
	s.renew("leasewarden", s.secret("leasewarden-tls"))
	current := s.secret("leasewarden-tls").Data["ca.crt"]
	g.Expect(current).NotTo(Equal(root.Data["ca.crt"]))
	g.Eventually(func() (string, error) {
		bundle, err := s.bundle(t.Context())
		return string(bundle), err
	}, soon, often).Should(And(ContainSubstring(string(root.Data["ca.crt"])), ContainSubstring(string(current))), "both CAs are trusted")
	s.served("a certificate of another CA")

	rulings, failures := a.stop()
	g.Expect(failures).To(BeEmpty())
	g.Expect(rulings).To(BeNumerically(">", 1000))
	t.Logf("%d attempts and connections, none failed", rulings)
}

// startCertManager installs cert-manager's CRDs and starts its controllers.
func (s *site) startCertManager() {
	s.t.Helper()
	g := NewWithT(s.t)
	module := filepath.Join("..", "..", "certmanager")
	list := exec.CommandContext(s.t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager")
	list.Dir = module
	dir, err := list.Output()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(s.Config(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join(strings.TrimSpace(string(dir)), "deploy", "crds")}, ErrorIfPathMissing: true,
	})
	g.Expect(err).NotTo(HaveOccurred())
	program, err := s.builder.Package(s.t.Context(), module, ".")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = s.StartProcess("cert-manager", program, "--kubeconfig="+s.Kubeconfig())
	g.Expect(err).NotTo(HaveOccurred())
}

// onLoopback has each replica listen on the address of its Pod alone: all Pods
// of a local cluster share one network.
func onLoopback(t *testing.T) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool {
		if object.GetKind() != "Deployment" {
			return true
		}
		g := NewWithT(t)
		var deployment appsv1.Deployment
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment)).To(Succeed())
		container := &deployment.Spec.Template.Spec.Containers[0]
		container.Env = append(container.Env, corev1.EnvVar{
			Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}},
		})
		container.Args = append(container.Args, "--webhook-bind-address=$(POD_IP)",
			"--metrics-bind-address=$(POD_IP):8080", "--health-probe-bind-address=$(POD_IP):8081")
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&deployment)
		g.Expect(err).NotTo(HaveOccurred())
		object.Object = content
		return true
	}
}

// podAddresses are where the ready replicas serve the webhook.
func (s *site) podAddresses() ([]string, error) {
	pods, err := s.kube.CoreV1().Pods(installation.Namespace).List(s.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=leasewarden"})
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, pod := range pods.Items {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				addresses = append(addresses, pod.Status.PodIP+":9443")
			}
		}
	}
	return addresses, nil
}

func (s *site) everyPodIsTrusted(ctx context.Context) error {
	addresses, err := s.podAddresses()
	if err != nil {
		return err
	}
	if len(addresses) != 2 {
		return errors.New("a replica is not ready any more")
	}
	return s.trusted(ctx, webhookHost, addresses...)
}

func (s *site) secret(name string) *corev1.Secret {
	s.t.Helper()
	secret, err := s.kube.CoreV1().Secrets(installation.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	NewWithT(s.t).Expect(err).NotTo(HaveOccurred())
	return secret
}

// renew has cert-manager issue a Certificate anew, as cmctl does, and waits
// until it has.
func (s *site) renew(name string, before *corev1.Secret) {
	s.t.Helper()
	g := NewWithT(s.t)
	certificate := &unstructured.Unstructured{}
	certificate.SetAPIVersion("cert-manager.io/v1")
	certificate.SetKind("Certificate")
	g.Eventually(func() error {
		if err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: installation.Namespace, Name: name}, certificate); err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(certificate.Object, "status", "conditions")
		if err != nil {
			return err
		}
		conditions = append(conditions, map[string]any{
			"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "renewed by a test",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": certificate.GetGeneration(),
		})
		if err := unstructured.SetNestedSlice(certificate.Object, conditions, "status", "conditions"); err != nil {
			return err
		}
		return s.client.Status().Update(s.t.Context(), certificate)
	}, soon, often).Should(Succeed())
	g.Eventually(func() string { return string(s.secret(before.Name).Data["tls.crt"]) }, soon, often).
		ShouldNot(Equal(string(before.Data["tls.crt"])))
}

// served waits until both replicas serve what is in the Secret.
func (s *site) served(what string) {
	s.t.Helper()
	secret := s.secret("leasewarden-tls")
	NewWithT(s.t).Eventually(func() error {
		addresses, err := s.podAddresses()
		if err != nil {
			return err
		}
		for _, address := range addresses {
			leaf, err := handshake(s.t.Context(), address, webhookHost, secret.Data["ca.crt"])
			if err != nil {
				return err
			}
			if !strings.Contains(string(secret.Data["tls.crt"]), encoded(leaf)) {
				return fmt.Errorf("%s serves another certificate", address)
			}
		}
		return nil
	}, 5*time.Minute, often).Should(Succeed(), what)
}
