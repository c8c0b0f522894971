package doctor

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/leasewarden/leasewarden/terms"
)

const becauseNoReplica = "see the checks replicas and leader: the replica that leads keeps it up to date"

// checkWebhook looks at whether the API server is told of the webhook, and
// whether there is somebody where it is told to call.
func checkWebhook(s *snapshot) []Finding {
	if s.validating.err != nil {
		return unread("webhook configurations", s.validating.err)
	}
	validating, mutating := s.ours()
	client := s.client()
	switch {
	case validating == nil:
		return []Finding{problem(becauseNoReplica, "there is no ValidatingWebhookConfiguration %s: nothing is ruled on", terms.ConfigurationName)}
	case client == nil:
		return []Finding{problem(becauseNoReplica, "ValidatingWebhookConfiguration %s has no entry: nothing is ruled on", terms.ConfigurationName)}
	}
	entries := len(validating.Webhooks)
	if mutating != nil {
		entries += len(mutating.Webhooks)
	}
	if client.Service == nil {
		return ok("%d entries, at %s", entries, s.outside())
	}
	if f := s.checkService(client.Service); f != nil {
		return []Finding{*f}
	}
	return ok("%d entries, at Service %s with %d ready endpoints", entries, serviceName(client.Service), s.readyEndpoints())
}

// checkService returns nil if the Service has somebody behind it.
func (s *snapshot) checkService(ref *admissionregistrationv1.ServiceReference) *Finding {
	name := serviceName(ref)
	var f Finding
	switch {
	case apierrors.IsNotFound(s.service.err):
		f = problem("apply the manifests of Leasewarden again, or remove what it left: leasewarden uninstall",
			"the API server calls Service %s, which does not exist: nothing is ruled on", name)
	case s.service.err != nil:
		f = unread("Service "+name, s.service.err)[0]
	case s.endpoints.err != nil:
		f = unread("the EndpointSlices of Service "+name, s.endpoints.err)[0]
	case s.readyEndpoints() == 0:
		f = problem("see the check replicas", "the API server calls Service %s, which has no ready endpoint: nothing is ruled on", name)
	default:
		return nil
	}
	return &f
}

func (s *snapshot) readyEndpoints() int {
	n := 0
	for i := range s.endpoints.value.Items {
		for _, e := range s.endpoints.value.Items[i].Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				n++
			}
		}
	}
	return n
}

func serviceName(ref *admissionregistrationv1.ServiceReference) string {
	return ref.Namespace + "/" + ref.Name
}
