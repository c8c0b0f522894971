package terms

import (
	"fmt"
	"net/url"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
)

// Endpoint is where the API server reaches the webhook: at a Service, or at a
// URL outside the cluster.
type Endpoint struct {
	// URL is an https URL of a host and port; the paths are added to it.
	// Empty: the Service.
	URL string
	// Namespace and Service name the Service. Its port is 443.
	Namespace, Service string
	// Paths of the three handlers, each with a leading slash.
	ValidateLease, MutateLease, ValidatePolicy string
}

// servicePort is the port of the Service.
const servicePort = 443

// Validate says what the API server would not take.
func (e Endpoint) Validate() error {
	if e.URL == "" {
		if e.Namespace == "" || e.Service == "" {
			return fmt.Errorf("the webhook's Service needs a namespace and a name")
		}
		return nil
	}
	u, err := url.Parse(e.URL)
	switch {
	case err != nil:
		return err
	case u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("webhook URL %q must start with https:// and a host", e.URL)
	case u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("webhook URL %q must have no user, path, query or fragment", e.URL)
	}
	return nil
}

func (e Endpoint) client(path string, bundle []byte) admissionregistrationv1.WebhookClientConfig {
	if e.URL != "" {
		return admissionregistrationv1.WebhookClientConfig{URL: ptr.To(strings.TrimSuffix(e.URL, "/") + path), CABundle: bundle}
	}
	return admissionregistrationv1.WebhookClientConfig{
		Service: &admissionregistrationv1.ServiceReference{
			Namespace: e.Namespace, Name: e.Service, Path: &path, Port: ptr.To[int32](servicePort),
		},
		CABundle: bundle,
	}
}
