package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	home = "leasewarden-system"
	host = "leasewarden.leasewarden-system.svc"
)

var examined = time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC)

// refusal is how the API server tells that a webhook of ours has refused.
var refusal = errors.New(`admission webhook "policies.leasewarden.dev" denied the request: filters[0].cel: Invalid value`)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.certificate, a.key = certify(t, nil, examined.Add(300*24*time.Hour))
	return a
}

// certify makes a certificate of a year of that authority, or a CA without one.
func certify(t *testing.T, by *authority, until time.Time) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "c"}, NotBefore: until.Add(-365 * 24 * time.Hour), NotAfter: until,
		IsCA: by == nil, BasicConstraintsValid: true, DNSNames: []string{host},
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, key
}

func encoded(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// healthy is an installation with nothing wrong: two replicas and a policy with
// failurePolicy Fail for a Lease that has a holder.
func healthy(t *testing.T) *snapshot {
	t.Helper()
	ca := newAuthority(t)
	labels := map[string]string{"app.kubernetes.io/name": "leasewarden"}
	image := corev1.PodSpec{Containers: []corev1.Container{{Name: "leasewarden", Image: "example.com/leasewarden:v0.1.0"}}}
	s := &snapshot{version: "v0.1.0", namespace: home, now: examined}
	wanted, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range wanted {
		s.served.value.APIResources = append(s.served.value.APIResources, metav1.APIResource{Name: d.Spec.Names.Plural})
		s.definitions.value.Items = append(s.definitions.value.Items, *d.DeepCopy())
	}
	s.deployments.value.Items = []appsv1.Deployment{{
		ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "leasewarden", Labels: labels},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Template: corev1.PodTemplateSpec{Spec: image}},
		Status:     appsv1.DeploymentStatus{ReadyReplicas: 2, UpdatedReplicas: 2},
	}}
	for _, name := range []string{"leasewarden-a", "leasewarden-b"} {
		s.pods.value.Items = append(s.pods.value.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name}, Spec: image})
	}
	s.lock.value.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("leasewarden-a_1"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: examined.Add(-2 * time.Second)},
	}
	s.policies.value.Items = []v1alpha1.ElectionPolicy{policy()}
	s.elections.value.Items = []v1alpha1.Election{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"},
		Status: v1alpha1.ElectionStatus{
			Policy: "ElectionPolicy/web", Mode: v1alpha1.Enforce, Holder: &v1alpha1.ElectionHolder{Name: "web-0", Identity: "web-0_1"},
		},
	}}
	s.leases.value.Items = []coordinationv1.Lease{{ObjectMeta: metav1.ObjectMeta{
		Namespace: "apps", Name: "web", Annotations: map[string]string{v1alpha1.ElectedAnnotation: "web-0_1"},
	}}}
	s.namespaces.value.Items = []corev1.Namespace{named("apps"), named("kube-system"), named("other")}
	s.secret.value = corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "leasewarden-ca"}, Data: map[string][]byte{"tls.crt": encoded(ca.certificate)}}
	s.endpoints.value.Items = []discoveryv1.EndpointSlice{{Endpoints: []discoveryv1.Endpoint{{}, {}}}}
	s.asked = trial{what: "ElectionPolicies in " + home, err: refusal}
	s.tried = trial{what: "Lease apps/web", err: errors.New(`admission webhook "leases.leasewarden.dev" denied the request: lease apps/web: ...`)}
	s.registerAll(t, encoded(ca.certificate))
	return s
}

// registerAll registers what the policies ask for.
func (s *snapshot) registerAll(t *testing.T, bundle []byte) {
	t.Helper()
	d, err := register(s)
	if err != nil {
		t.Fatal(err)
	}
	at := admissionregistrationv1.WebhookClientConfig{
		Service: &admissionregistrationv1.ServiceReference{Namespace: home, Name: "leasewarden"}, CABundle: bundle,
	}
	for i := range d.validating.Webhooks {
		d.validating.Webhooks[i].ClientConfig = at
	}
	for i := range d.mutating.Webhooks {
		d.mutating.Webhooks[i].ClientConfig = at
	}
	s.validating.value.Items = []admissionregistrationv1.ValidatingWebhookConfiguration{*d.validating}
	s.mutating.value.Items = []admissionregistrationv1.MutatingWebhookConfiguration{*d.mutating}
}

func policy() v1alpha1.ElectionPolicy {
	p := v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", Generation: 1}}
	p.Spec.Leases.Names = []string{"web"}
	p.Spec.Mode = v1alpha1.Enforce
	p.Spec.FailurePolicy = v1alpha1.Fail
	p.Spec.Strategy.Name = v1alpha1.FirstCome
	p.Status.ObservedGeneration = 1
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	return p
}

func named(name string) corev1.Namespace {
	return corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}}}
}
