package doctor

import (
	"cmp"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// checkRegistration compares what is registered with what the policies ask for:
// the code that registers the webhook says what that is.
func checkRegistration(s *snapshot) []Finding {
	validating, mutating := s.ours()
	switch {
	case s.policies.err != nil:
		return unread("ElectionPolicies", s.policies.err)
	case s.clusterPolicies.err != nil:
		return unread("ClusterElectionPolicies", s.clusterPolicies.err)
	case validating == nil:
		return []Finding{unknown("see the check webhook", "no webhook is registered")}
	case validating.Labels["app.kubernetes.io/managed-by"] != "leasewarden", s.runsWith("--manage-webhook-configuration=false"):
		return []Finding{unknown("compare it with that of a Leasewarden that keeps it", "the webhook configuration is kept by others (--manage-webhook-configuration=false)")}
	}
	wanted, err := register(s)
	if err != nil {
		return []Finding{unknown("report this", "working out what the policies ask for: %v", err)}
	}
	findings := differences(entriesOf(wanted.validating), entriesOf(validating))
	findings = append(findings, differences(mutatingEntriesOf(wanted.mutating), mutatingEntriesOf(mutating))...)
	if len(findings) > 0 {
		return findings
	}
	return ok("what is registered is what the policies ask for, failure policies included")
}

// registered is an entry of a webhook configuration without where to call.
type registered struct {
	kind, name string
	failure    *admissionregistrationv1.FailurePolicyType
	// all is the whole entry.
	all any
}

func entriesOf(c *admissionregistrationv1.ValidatingWebhookConfiguration) []registered {
	if c == nil {
		return nil
	}
	all := make([]registered, len(c.Webhooks))
	for i, w := range c.Webhooks {
		w.ClientConfig = admissionregistrationv1.WebhookClientConfig{}
		all[i] = registered{"validating", w.Name, w.FailurePolicy, w}
	}
	return all
}

func mutatingEntriesOf(c *admissionregistrationv1.MutatingWebhookConfiguration) []registered {
	if c == nil {
		return nil
	}
	all := make([]registered, len(c.Webhooks))
	for i, w := range c.Webhooks {
		w.ClientConfig = admissionregistrationv1.WebhookClientConfig{}
		all[i] = registered{"mutating", w.Name, w.FailurePolicy, w}
	}
	return all
}

func differences(wanted, found []registered) []Finding {
	const advice = "see the check leader: the replica that leads puts it right. Another release than this may also mean something else by a policy (see the check versions)"
	var findings []Finding
	for _, w := range wanted {
		i := slices.IndexFunc(found, func(f registered) bool { return f.name == w.name })
		what := fmt.Sprintf("the %s webhook %s", w.kind, w.name)
		switch {
		case i < 0:
			findings = append(findings, problem(advice, "%s is not registered, and the policies ask for it", what))
		case failure(w) != failure(found[i]):
			findings = append(findings, problem(advice, "%s has the failure policy %s, and the policies ask for %s", what, failure(found[i]), failure(w)))
		case !apiequality.Semantic.DeepEqual(w.all, found[i].all):
			findings = append(findings, problem(advice, "%s is not registered as the policies ask for", what))
		}
	}
	for _, f := range found {
		if !slices.ContainsFunc(wanted, func(w registered) bool { return w.name == f.name }) {
			findings = append(findings, problem(advice, "the %s webhook %s is registered, and no policy asks for it", f.kind, f.name))
		}
	}
	return findings
}

func failure(r registered) admissionregistrationv1.FailurePolicyType {
	if r.failure == nil {
		return admissionregistrationv1.Fail
	}
	return cmp.Or(*r.failure, admissionregistrationv1.Fail)
}
