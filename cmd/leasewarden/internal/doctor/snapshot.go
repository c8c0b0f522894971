package doctor

import (
	"crypto/x509"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/terms"
)

// snapshot is all that the checks judge.
type snapshot struct {
	// version is that of this program.
	version string
	// namespace is Leasewarden's own.
	namespace string
	// skew is by how much the API server's clock is ahead of this machine's, now
	// the API server's time, or else this machine's.
	skew read[time.Duration]
	now  time.Time

	served      read[metav1.APIResourceList]
	definitions read[apiextensionsv1.CustomResourceDefinitionList]

	deployments read[appsv1.DeploymentList]
	pods        read[corev1.PodList]
	lock        read[coordinationv1.Lease]

	validating read[admissionregistrationv1.ValidatingWebhookConfigurationList]
	mutating   read[admissionregistrationv1.MutatingWebhookConfigurationList]
	// service is that of the webhook, if it is reached at one.
	service   read[corev1.Service]
	endpoints read[discoveryv1.EndpointSliceList]
	// secret has the CA, or the serving certificate. presented is what the
	// webhook presents, if it is reached at a URL.
	secret    read[corev1.Secret]
	presented read[[]*x509.Certificate]

	admissionPolicies read[admissionregistrationv1.ValidatingAdmissionPolicyList]
	bindings          read[admissionregistrationv1.ValidatingAdmissionPolicyBindingList]

	policies        read[v1alpha1.ElectionPolicyList]
	clusterPolicies read[v1alpha1.ClusterElectionPolicyList]
	elections       read[v1alpha1.ElectionList]
	leases          read[coordinationv1.LeaseList]
	namespaces      read[corev1.NamespaceList]

	// asked is what became of a policy that cannot be used, tried what became of
	// an acquire attempt by nobody.
	asked, tried trial
}

// trial is what became of a write that was tried as a dry run.
type trial struct {
	// what was tried, "" if nothing was.
	what string
	// stamped says that Leasewarden left its mark on what was admitted.
	stamped bool
	err     error
}

// ours are Leasewarden's own configurations, nil where there is none.
func (s *snapshot) ours() (*admissionregistrationv1.ValidatingWebhookConfiguration, *admissionregistrationv1.MutatingWebhookConfiguration) {
	var v *admissionregistrationv1.ValidatingWebhookConfiguration
	var m *admissionregistrationv1.MutatingWebhookConfiguration
	for i := range s.validating.value.Items {
		if c := &s.validating.value.Items[i]; c.Name == terms.ConfigurationName {
			v = c
		}
	}
	for i := range s.mutating.value.Items {
		if c := &s.mutating.value.Items[i]; c.Name == terms.ConfigurationName {
			m = c
		}
	}
	return v, m
}

// client is where the API server reaches the webhook, nil if it is not told.
func (s *snapshot) client() *admissionregistrationv1.WebhookClientConfig {
	if v, _ := s.ours(); v != nil && len(v.Webhooks) > 0 {
		return &v.Webhooks[0].ClientConfig
	}
	return nil
}

// outside is the URL of a webhook that runs outside the cluster, or "".
func (s *snapshot) outside() string {
	if c := s.client(); c != nil && c.URL != nil {
		return *c.URL
	}
	return ""
}

// governed are the namespaces in which a Lease is governed.
func (s *snapshot) governed() map[string]bool {
	all := map[string]bool{}
	for i := range s.elections.value.Items {
		if e := &s.elections.value.Items[i]; e.Status.Policy != "" {
			all[e.Namespace] = true
		}
	}
	return all
}
