package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/certs"
)

const (
	// lockName is the Lease of Leasewarden's own election.
	lockName = "leasewarden"
	// dialTimeout bounds how long the webhook may take to present a certificate.
	dialTimeout = 3 * time.Second
)

// label is on all that the manifests and the chart install.
var label = client.MatchingLabels{"app.kubernetes.io/name": "leasewarden"}

func labelText() string { return "app.kubernetes.io/name=leasewarden" }

// Cluster is the cluster that is examined.
type Cluster struct {
	Client    client.Client
	Discovery discovery.ServerResourcesInterface
	// Time asks the API server what time it is.
	Time  func(context.Context) (time.Time, error)
	Clock clock.PassiveClock
	// Namespace is Leasewarden's own. Default: where its Deployment is, or else
	// what its webhook configuration says.
	Namespace string
	// DefaultNamespace is where it is if nothing else says so.
	DefaultNamespace string
	// Version is that of this program.
	Version string
}

// look reads everything.
func (c *Cluster) look(ctx context.Context, doing func(string)) *snapshot {
	s := &snapshot{version: c.Version}
	for _, step := range []struct {
		what string
		do   func(context.Context, *snapshot)
	}{
		{"asking what time it is", c.lookAtClock},
		{"reading the CRDs", c.lookAtDefinitions},
		{"reading webhooks and admission policies", c.lookAtAdmission},
		{"reading the Deployment", c.lookAtReplicas},
		{"reading policies, Elections and Leases", c.lookAtElections},
		{"reading the certificates", c.lookAtCertificates},
		{"trying whether the webhook answers", c.try},
	} {
		if doing != nil {
			doing(step.what)
		}
		step.do(ctx, s)
	}
	return s
}

func (c *Cluster) lookAtClock(ctx context.Context, s *snapshot) {
	before := c.Clock.Now()
	server, err := c.Time(ctx)
	after := c.Clock.Now()
	s.now, s.skew.err = after, err
	if err == nil {
		// It cuts off the part of the second.
		server = server.Add(500 * time.Millisecond)
		s.skew.value = server.Sub(before.Add(after.Sub(before) / 2))
		s.now = after.Add(s.skew.value)
	}
}

func (c *Cluster) lookAtDefinitions(ctx context.Context, s *snapshot) {
	resources, err := c.Discovery.ServerResourcesForGroupVersion(v1alpha1.GroupVersion.String())
	if s.served.err = err; err == nil {
		s.served.value = *resources
	}
	s.definitions = listed[apiextensionsv1.CustomResourceDefinitionList](ctx, c.Client)
}

func (c *Cluster) lookAtAdmission(ctx context.Context, s *snapshot) {
	s.validating = listed[admissionregistrationv1.ValidatingWebhookConfigurationList](ctx, c.Client)
	s.mutating = listed[admissionregistrationv1.MutatingWebhookConfigurationList](ctx, c.Client)
	s.admissionPolicies = listed[admissionregistrationv1.ValidatingAdmissionPolicyList](ctx, c.Client)
	s.bindings = listed[admissionregistrationv1.ValidatingAdmissionPolicyBindingList](ctx, c.Client)
	s.namespaces = listed[corev1.NamespaceList](ctx, c.Client)
}

func (c *Cluster) lookAtReplicas(ctx context.Context, s *snapshot) {
	s.deployments = listed[appsv1.DeploymentList](ctx, c.Client, label, client.InNamespace(c.Namespace))
	s.namespace = c.home(s)
	s.pods = listed[corev1.PodList](ctx, c.Client, label, client.InNamespace(s.namespace))
	s.lock = got[coordinationv1.Lease](ctx, c.Client, s.namespace, lockName)
	if client := s.client(); client != nil && client.Service != nil {
		c.lookAtService(ctx, s, client.Service)
	}
}

func (c *Cluster) lookAtService(ctx context.Context, s *snapshot, ref *admissionregistrationv1.ServiceReference) {
	s.service = got[corev1.Service](ctx, c.Client, ref.Namespace, ref.Name)
	s.endpoints = listed[discoveryv1.EndpointSliceList](ctx, c.Client,
		client.InNamespace(ref.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: ref.Name})
}

// home is Leasewarden's own namespace.
func (c *Cluster) home(s *snapshot) string {
	deployed, called, owner := "", "", ""
	if all := s.deployments.value.Items; len(all) > 0 {
		deployed = all[0].Namespace
	}
	if client := s.client(); client != nil && client.Service != nil {
		called = client.Service.Namespace
	}
	if v, _ := s.ours(); v != nil && len(v.OwnerReferences) > 0 {
		owner = v.OwnerReferences[0].Name
	}
	return cmp.Or(c.Namespace, deployed, called, owner, c.DefaultNamespace)
}

func (c *Cluster) lookAtElections(ctx context.Context, s *snapshot) {
	s.policies = listed[v1alpha1.ElectionPolicyList](ctx, c.Client)
	s.clusterPolicies = listed[v1alpha1.ClusterElectionPolicyList](ctx, c.Client)
	s.elections = listed[v1alpha1.ElectionList](ctx, c.Client)
	// The heartbeats of Nodes are never governed, and many.
	others := fields.OneTermNotEqualSelector("metadata.namespace", candidates.NodeLeaseNamespace)
	s.leases = listed[coordinationv1.LeaseList](ctx, c.Client, client.MatchingFieldsSelector{Selector: others})
}

func (c *Cluster) lookAtCertificates(ctx context.Context, s *snapshot) {
	switch u, err := url.Parse(s.outside()); {
	case s.outside() == "":
		s.secret = got[corev1.Secret](ctx, c.Client, s.namespace, s.secretName())
	case err != nil:
		s.presented.err = err
	default:
		s.presented.value, s.presented.err = present(ctx, u)
	}
}

// secretName is that of the Secret that is mounted, or else of our own CA.
func (s *snapshot) secretName() string {
	for i := range s.deployments.value.Items {
		for _, v := range s.deployments.value.Items[i].Spec.Template.Spec.Volumes {
			if v.Name == "tls" && v.Secret != nil {
				return v.Secret.SecretName
			}
		}
	}
	return certs.DefaultSecretName
}

// present connects from here to where the API server connects to.
func present(ctx context.Context, u *url.URL) ([]*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	// What is presented is looked at, and verified then.
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))
	if err != nil {
		return nil, fmt.Errorf("this machine cannot connect to %s, which the API server may: %w", u.Host, err)
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates, nil
}

// dryRun has nothing stored.
var dryRun = []string{metav1.DryRunAll}
