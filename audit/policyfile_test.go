package audit

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditpolicy "k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// TestThePolicyFileRecordsWhatIsRead evaluates the audit policy that ships as
// the API server does.
func TestThePolicyFileRecordsWhatIsRead(t *testing.T) {
	p, err := auditpolicy.LoadPolicyFromFile("../manifests/audit/audit-policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	evaluator := auditpolicy.NewPolicyRuleEvaluator(p)
	level := func(verb string, resource schema.GroupResource, subresource, namespace string) auditinternal.Level {
		return evaluator.EvaluatePolicyRule(authorizer.AttributesRecord{
			User: &user.DefaultInfo{Name: "u"}, Verb: verb, Namespace: namespace, ResourceRequest: true,
			APIGroup: resource.Group, Resource: resource.Resource, Subresource: subresource, Name: "n",
		}).Level
	}
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	groups := map[string]string{"replicasets": "apps", "controllerrevisions": "apps", "leasecandidates": "coordination.k8s.io", "candidates": "leasewarden.dev"}
	for _, verb := range []string{"create", "update", "patch", "delete"} {
		if got := level(verb, leases, "", "kube-system"); got != auditinternal.LevelRequest {
			t.Errorf("%s of a Lease is recorded at %s", verb, got)
		}
		if got := level(verb, leases, "", "kube-node-lease"); got != auditinternal.LevelNone {
			t.Errorf("%s of a node's heartbeat is recorded at %s", verb, got)
		}
		for resource := range resources {
			if got := level(verb, schema.GroupResource{Group: groups[resource], Resource: resource}, "", "ns"); got != auditinternal.LevelRequestResponse {
				t.Errorf("%s of %s is recorded at %s", verb, resource, got)
			}
		}
	}
	pods := schema.GroupResource{Resource: "pods"}
	for verb, subresource := range map[string]string{"patch": "status", "create": "eviction"} {
		if got := level(verb, pods, subresource, "ns"); got != auditinternal.LevelRequestResponse {
			t.Errorf("%s of pods/%s is recorded at %s", verb, subresource, got)
		}
	}
	for _, other := range []struct {
		verb     string
		resource schema.GroupResource
		sub      string
	}{{"create", pods, "exec"}, {"get", schema.GroupResource{Resource: "secrets"}, ""}, {"list", pods, ""}, {"get", leases, ""}} {
		if got := level(other.verb, other.resource, other.sub, "ns"); got != auditinternal.LevelNone {
			t.Errorf("%s of %s/%s is recorded at %s", other.verb, other.resource, other.sub, got)
		}
	}
}
