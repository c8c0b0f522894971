package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

var (
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("not you"))
	missing   = apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, "x")
)

func TestHealthyInstallation(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range judge(healthy(t)) {
		seen[f.Check] = true
		if f.Verdict != OK || f.Advice != "" {
			t.Errorf("%s is %s: %s (%s)", f.Check, f.Verdict, f.Message, f.Advice)
		}
	}
	for _, c := range checks {
		if !seen[c.name] {
			t.Errorf("nothing is said of %s", c.name)
		}
	}
}

// broken is what is wrong, and what has to be said of it.
type broken struct {
	wreck   func(*snapshot)
	check   string
	verdict Verdict
	message string
}

func TestChecksSayWhatIsWrong(t *testing.T) {
	for name, test := range map[string]broken{
		"no CRDs":                  {func(s *snapshot) { s.served.err = missing; s.served.value = metav1.APIResourceList{} }, "crds", Problem, "electionpolicies.leasewarden.dev"},
		"an older CRD":             {func(s *snapshot) { s.definitions.value.Items[1].Spec.Versions[0].Schema = nil }, "crds", Warning, "not that of this release"},
		"a CRD goes":               {func(s *snapshot) { s.definitions.value.Items[1].DeletionTimestamp = &metav1.Time{} }, "crds", Problem, "is being deleted"},
		"no right to CRDs":         {func(s *snapshot) { s.definitions.err = forbidden }, "crds", Unknown, "you may not read the CRDs"},
		"no Deployment":            {func(s *snapshot) { s.deployments.value.Items = nil }, "replicas", Problem, "not installed"},
		"a left-over registration": {func(s *snapshot) { s.deployments.value.Items = nil }, "leftovers", Problem, "there is no Deployment"},
		"two installations":        {second, "replicas", Problem, "leasewarden-system/leasewarden, other/leasewarden"},
		"scaled to zero":           {func(s *snapshot) { s.deployments.value.Items[0].Spec.Replicas = ptr.To[int32](0) }, "replicas", Problem, "is scaled to 0"},
		"none is ready":            {func(s *snapshot) { s.deployments.value.Items[0].Status.ReadyReplicas = 0 }, "replicas", Problem, "no replica"},
		"one is not ready":         {func(s *snapshot) { s.deployments.value.Items[0].Status.ReadyReplicas = 1 }, "replicas", Warning, "1 of 2"},
		"a rollout":                {func(s *snapshot) { s.deployments.value.Items[0].Status.UpdatedReplicas = 1 }, "replicas", Warning, "rolled out"},
		"two images": {func(s *snapshot) {
			s.pods.value.Items[1].Spec = corev1.PodSpec{Containers: []corev1.Container{{Image: "x:2"}}}
		}, "versions", Warning, "different images"},
		"an older program":           {func(s *snapshot) { s.version = "v0.0.9" }, "versions", Warning, "this is leasewarden v0.0.9"},
		"no version":                 {func(s *snapshot) { s.version = "(devel)" }, "versions", Unknown, "not both are versions"},
		"no leader ever":             {func(s *snapshot) { s.lock = read[coordinationv1.Lease]{err: missing} }, "leader", Problem, "no replica leads"},
		"the leader is dead":         {func(s *snapshot) { s.now = s.now.Add(time.Minute) }, "leader", Problem, "has not renewed"},
		"the leader has gone":        {func(s *snapshot) { s.lock.value.Spec.HolderIdentity = ptr.To("") }, "leader", Problem, "is vacant"},
		"no registration":            {func(s *snapshot) { s.validating.value.Items = nil }, "webhook", Problem, "there is no ValidatingWebhookConfiguration"},
		"no Service":                 {func(s *snapshot) { s.service.err = missing }, "webhook", Problem, "does not exist"},
		"no endpoints":               {func(s *snapshot) { s.endpoints.value.Items[0].Endpoints = nil }, "webhook", Problem, "no ready endpoint"},
		"no right to Services":       {func(s *snapshot) { s.service.err = forbidden }, "webhook", Unknown, "you may not read Service"},
		"no CA":                      {bundled(nil), "certificates", Problem, "is told no CA"},
		"a broken CA":                {bundled([]byte("nonsense")), "certificates", Problem, "cannot be read"},
		"the CA expires":             {func(s *snapshot) { s.now = s.now.Add(270 * 24 * time.Hour) }, "certificates", Warning, "its renewal is overdue"},
		"the CA expired":             {func(s *snapshot) { s.now = s.now.Add(301 * 24 * time.Hour) }, "certificates", Problem, "expired at"},
		"no right to the Secret":     {func(s *snapshot) { s.secret.err = forbidden }, "certificates", Unknown, "you may not read its Secret"},
		"nobody answers":             {func(s *snapshot) { s.asked.err = nil }, "reachable", Problem, "does not answer"},
		"nobody can be called":       {func(s *snapshot) { s.asked.err = errors.New("failed calling webhook: x509") }, "reachable", Problem, "x509"},
		"no right to try":            {func(s *snapshot) { s.asked.err = forbidden }, "reachable", Unknown, "you must be allowed"},
		"another failure policy":     {func(s *snapshot) { s.entry(1).FailurePolicy = ptr.To(admissionregistrationv1.Ignore) }, "registration", Problem, "has the failure policy Ignore, and the policies ask for Fail"},
		"another timeout":            {func(s *snapshot) { s.entry(1).TimeoutSeconds = ptr.To[int32](30) }, "registration", Problem, "not registered as"},
		"a missing entry":            {func(s *snapshot) { c := &s.validating.value.Items[0]; c.Webhooks = c.Webhooks[:1] }, "registration", Problem, "is not registered, and"},
		"an entry too many":          {func(s *snapshot) { s.policies.value.Items = nil }, "registration", Problem, "no policy asks for it"},
		"nobody asks about policies": {func(s *snapshot) { s.asked = trial{} }, "reachable", Unknown, "asked about policies"},
		"told to leave it to others": {unmanaged, "registration", Unknown, "kept by others"},
		"a registration of others":   {func(s *snapshot) { s.validating.value.Items[0].Labels = nil }, "registration", Unknown, "kept by others"},
		"anybody acquires":           {func(s *snapshot) { s.tried.err = nil }, "ruling", Problem, "nobody rules on Lease apps/web"},
		"nobody acquires":            {func(s *snapshot) { s.tried.err = errors.New("failed calling webhook: refused") }, "ruling", Problem, "nobody can acquire"},
		"no right to Leases":         {func(s *snapshot) { s.tried.err = forbidden }, "ruling", Unknown, "you must be allowed to patch"},
		"a strict webhook":           {others(nil), "other webhooks", Problem, "ValidatingWebhookConfiguration strict, webhook w, intercepts writes of Leases in apps, kube-system"},
		"a strict one for some": {others(func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}), "other webhooks", Warning, "some writes"},
		"a slow webhook": {others(func(w *admissionregistrationv1.ValidatingWebhook) {
			w.FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
		}), "other webhooks", Warning, "a timeout of 10 s"},
		"an admission policy":       {bound(admissionregistrationv1.Deny), "admission policies", Warning, "ValidatingAdmissionPolicy v may refuse"},
		"an invalid policy":         {func(s *snapshot) { s.policies.value.Items[0].Status.Conditions[0].Status = metav1.ConditionFalse }, "policies", Problem, "ElectionPolicy apps/web is not ready"},
		"a policy nobody looked at": {func(s *snapshot) { s.policies.value.Items[0].Status.Conditions = nil }, "policies", Problem, "has not looked at"},
		"a change nobody looked at": {func(s *snapshot) { s.policies.value.Items[0].Generation = 2 }, "policies", Warning, "last change"},
		"a conflict":                {conflicting, "policies", Warning, "two policies"},
		"a vacancy":                 {func(s *snapshot) { s.elections.value.Items[0].Status.Holder = nil }, "elections", Warning, "apps/web is vacant"},
		"a long vacancy":            {vacant, "elections", Problem, "has been vacant for 2m"},
		"nobody may lead":           {empty(true), "elections", Problem, "nobody may lead: none"},
		"nobody could follow":       {empty(false), "elections", Warning, "nobody could follow it"},
		"annotations of no policy":  {func(s *snapshot) { s.elections.value.Items = nil }, "leftovers", Warning, "the Lease apps/web that no policy"},
		"another time":              {func(s *snapshot) { s.skew.value = -time.Hour }, "clock", Warning, "1h0m0s behind"},
		"no time":                   {func(s *snapshot) { s.skew.err = forbidden }, "clock", Unknown, "does not say what time it is"},
		"the API server fails":      {func(s *snapshot) { s.policies.err = errors.New("boom") }, "policies", Unknown, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			test.wreck(s)
			found := false
			for _, f := range judge(s) {
				if f.Check == test.check && f.Verdict == test.verdict && strings.Contains(f.Message, test.message) {
					found = true
					if f.Advice == "" && test.check != "clock" {
						t.Errorf("there is no advice on %q", f.Message)
					}
				}
			}
			if !found {
				t.Errorf("found no %s %q by %s, but %+v", test.verdict, test.message, test.check, judge(s))
			}
		})
	}
}

func TestChecksDoNotCryWolf(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*snapshot)
		check  string
	}{
		"a webhook for other things": {others(func(w *admissionregistrationv1.ValidatingWebhook) { w.Rules[0].Resources = []string{"pods"} }), "other webhooks"},
		"a webhook for deletions": {others(func(w *admissionregistrationv1.ValidatingWebhook) {
			w.Rules[0].Operations = []admissionregistrationv1.OperationType{"DELETE"}
		}), "other webhooks"},
		"a webhook of other places": {others(func(w *admissionregistrationv1.ValidatingWebhook) {
			w.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "other"}}
		}), "other webhooks"},
		"a quick webhook that ignores": {others(func(w *admissionregistrationv1.ValidatingWebhook) {
			w.FailurePolicy, w.TimeoutSeconds = ptr.To(admissionregistrationv1.Ignore), ptr.To[int32](1)
		}), "other webhooks"},
		"a policy that only warns":    {bound(admissionregistrationv1.Warn), "admission policies"},
		"an attempt that was stamped": {func(s *snapshot) { s.tried.err, s.tried.stamped = nil, true }, "ruling"},
		"nothing to try":              {func(s *snapshot) { s.tried = trial{} }, "ruling"},
		"no election": {func(s *snapshot) {
			s.lock.err = missing
			s.deployments.value.Items[0].Spec.Template.Spec.Containers[0].Args = []string{"--leader-elect=false"}
		}, "leader"},
		"outside the cluster":       {outside, "replicas"},
		"outside, and nothing left": {outside, "leftovers"},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			test.change(s)
			for _, f := range judge(s) {
				if f.Check == test.check && f.Verdict != OK {
					t.Errorf("%s: %s", f.Verdict, f.Message)
				}
			}
		})
	}
}

func (s *snapshot) entry(i int) *admissionregistrationv1.ValidatingWebhook {
	return &s.validating.value.Items[0].Webhooks[i]
}

func second(s *snapshot) {
	s.deployments.value.Items = append(s.deployments.value.Items, appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "leasewarden"}})
}

func bundled(bundle []byte) func(*snapshot) {
	return func(s *snapshot) { s.entry(0).ClientConfig.CABundle = bundle }
}

func outside(s *snapshot) {
	s.deployments.value.Items = nil
	s.entry(0).ClientConfig.Service, s.entry(0).ClientConfig.URL = nil, ptr.To("https://localhost:9443/validate-policy")
}

// others has somebody else intercept Leases.
func others(change func(*admissionregistrationv1.ValidatingWebhook)) func(*snapshot) {
	return func(s *snapshot) {
		w := admissionregistrationv1.ValidatingWebhook{Name: "w", Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"*"},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
		}}}
		if change != nil {
			change(&w)
		}
		s.validating.value.Items = append(s.validating.value.Items, admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "strict"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{w},
		})
	}
}

// bound has a ValidatingAdmissionPolicy for Leases.
func bound(action admissionregistrationv1.ValidationAction) func(*snapshot) {
	return func(s *snapshot) {
		rule := admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{"UPDATE"},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
		}}
		p := admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
		p.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{rule}}
		b := admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
		b.Spec.PolicyName, b.Spec.ValidationActions = "v", []admissionregistrationv1.ValidationAction{action}
		s.admissionPolicies.value.Items = append(s.admissionPolicies.value.Items, p)
		s.bindings.value.Items = append(s.bindings.value.Items, b)
	}
}

func conflicting(s *snapshot) {
	p := &s.policies.value.Items[0]
	p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPolicyConflict, Status: metav1.ConditionTrue, Message: "two policies"})
}

func vacant(s *snapshot) {
	e := &s.elections.value.Items[0]
	e.Status.Holder = nil
	e.Status.Terms = []v1alpha1.Term{{Holder: "web-0", End: &metav1.Time{Time: examined.Add(-2 * time.Minute)}}}
}

func empty(vacant bool) func(*snapshot) {
	return func(s *snapshot) {
		e := &s.elections.value.Items[0]
		if vacant {
			e.Status.Holder = nil
		}
		e.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionNoEligibleCandidate, Status: metav1.ConditionTrue, Message: "none"}}
	}
}

func unmanaged(s *snapshot) {
	s.deployments.value.Items[0].Spec.Template.Spec.Containers[0].Args = []string{"serve", "--manage-webhook-configuration=false"}
}
