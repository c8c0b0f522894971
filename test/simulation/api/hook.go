package api

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	celplugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// hook is one entry of a webhook configuration.
type hook struct {
	name, path string
	version    uint64
	resources  []string
	operations []admissionregistrationv1.OperationType
	namespaces labels.Selector
	failure    admissionregistrationv1.FailurePolicyType
	timeout    time.Duration
	conditions []*condition
}

func parseHooks(resource string, raw []byte) []*hook {
	var hooks []*hook
	if resource == Validating {
		var c admissionregistrationv1.ValidatingWebhookConfiguration
		must(0, json.Unmarshal(raw, &c))
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			hooks = append(hooks, newHook(w.Name, &w.ClientConfig, w.Rules, w.NamespaceSelector, w.FailurePolicy, w.TimeoutSeconds, w.MatchConditions))
		}
		return hooks
	}
	var c admissionregistrationv1.MutatingWebhookConfiguration
	must(0, json.Unmarshal(raw, &c))
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		hooks = append(hooks, newHook(w.Name, &w.ClientConfig, w.Rules, w.NamespaceSelector, w.FailurePolicy, w.TimeoutSeconds, w.MatchConditions))
	}
	return hooks
}

func newHook(name string, c *admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations,
	namespaces *metav1.LabelSelector, failure *admissionregistrationv1.FailurePolicyType, timeout *int32, conditions []admissionregistrationv1.MatchCondition) *hook {
	h := &hook{name: name, failure: failurePolicy(failure), timeout: 10 * time.Second, namespaces: labels.Everything()}
	if c.Service != nil && c.Service.Path != nil {
		h.path = *c.Service.Path
	}
	if timeout != nil {
		h.timeout = time.Duration(*timeout) * time.Second
	}
	if namespaces != nil {
		h.namespaces = must(metav1.LabelSelectorAsSelector(namespaces))
	}
	for _, r := range rules {
		h.resources, h.operations = append(h.resources, r.Resources...), append(h.operations, r.Operations...)
	}
	for _, m := range conditions {
		h.conditions = append(h.conditions, compile(m))
	}
	return h
}

// write is an attempted write to a Lease, as admission sees it.
type write struct {
	operation admission.Operation
	old, new  *coordinationv1.Lease
	labels    labels.Set // of the Namespace
}

// matches reports whether the hook is to be asked.
func (h *hook) matches(w *write) bool {
	if !slices.Contains(h.resources, "leases") || !slices.Contains(h.operations, admissionregistrationv1.OperationType(w.operation)) || !h.namespaces.Matches(w.labels) {
		return false
	}
	for _, c := range h.conditions {
		if !c.matches(w) {
			return false
		}
	}
	return true
}

// condition is a match condition, compiled as the API server does. What it says
// is remembered: Leases are renewed in the same way all the time.
type condition struct {
	matcher matchconditions.Matcher

	mu    sync.Mutex
	known map[features]bool
}

// features are all of a write that a condition of ours can depend on.
type features struct {
	operation            admission.Operation
	namespace, name      string
	oldHolder, newHolder string
	oldKind, newKind     coordinationv1.CoordinatedLeaseStrategy
	annotations          string
}

func featuresOf(w *write) features {
	f := features{operation: w.operation, namespace: w.new.Namespace, name: w.new.Name, newHolder: Holder(w.new), newKind: strategy(w.new)}
	if w.old != nil {
		f.oldHolder, f.oldKind = Holder(w.old), strategy(w.old)
	}
	for _, key := range v1alpha1.LeaseAnnotations {
		for _, l := range []*coordinationv1.Lease{w.old, w.new} {
			value, ok := "", false
			if l != nil {
				value, ok = l.Annotations[key]
			}
			if ok {
				f.annotations += "+" + value
			}
			f.annotations += "\x00"
		}
	}
	return f
}

func strategy(l *coordinationv1.Lease) coordinationv1.CoordinatedLeaseStrategy {
	if l.Spec.Strategy == nil {
		return ""
	}
	return *l.Spec.Strategy
}

// Holder is the holder identity of a Lease, "" if nobody holds it.
func Holder(l *coordinationv1.Lease) string {
	if l == nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func (c *condition) matches(w *write) bool {
	f := featuresOf(w)
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[f]
	if !ok {
		known = c.evaluate(w)
		if len(c.known) < maxKnown {
			c.known[f] = known
		}
	}
	return known
}

const maxKnown = 100_000

// evaluate asks CEL.
func (c *condition) evaluate(w *write) bool {
	kind := coordinationv1.SchemeGroupVersion.WithKind("Lease")
	var old runtime.Object
	if w.old != nil {
		old = w.old
	}
	a := admission.NewAttributesRecord(w.new, old, kind, w.new.Namespace, w.new.Name,
		schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "leases"}, "", w.operation, nil, false, &user.DefaultInfo{})
	result := c.matcher.Match(context.Background(), &admission.VersionedAttributes{
		Attributes: a, VersionedKind: kind, VersionedObject: admission.NewLazyObject(w.new), VersionedOldObject: admission.NewLazyObject(old),
	}, nil, nil)
	must(0, result.Error)
	return result.Matches
}

// compiled are the conditions of this process: many simulations have the same.
var compiled = struct {
	sync.Mutex
	conditions map[string]*condition
}{conditions: map[string]*condition{}}

var compiler = sync.OnceValue(func() celplugin.ConditionCompiler {
	return celplugin.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// compile compiles a condition so that an error at run time shows, and does not
// just skip the webhook.
func compile(m admissionregistrationv1.MatchCondition) *condition {
	compiled.Lock()
	defer compiled.Unlock()
	if c := compiled.conditions[m.Expression]; c != nil {
		return c
	}
	program := compiler().CompileCondition([]celplugin.ExpressionAccessor{(*matchconditions.MatchCondition)(&m)},
		celplugin.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
	fail := admissionregistrationv1.Fail
	c := &condition{matcher: matchconditions.NewMatcher(program, &fail, "webhook", "validating", "simulation"), known: map[features]bool{}}
	compiled.conditions[m.Expression] = c
	return c
}
