package terms

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	celplugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/ptr"
)

// matcher compiles a condition as the API server does for a stored webhook
// configuration whose failure policy is Fail, so that an error at run time
// shows, and does not just skip the webhook.
func matcher(t testing.TB, expression string) matchconditions.Matcher {
	t.Helper()
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	compiler := celplugin.NewConditionCompiler(env)
	accessor := &matchconditions.MatchCondition{Name: "c", Expression: expression}
	options := celplugin.OptionalVariableDeclarations{HasAuthorizer: true}
	if result := celplugin.NewCompiler(env).CompileCELExpression(accessor, options, environment.NewExpressions); result.Error != nil {
		t.Fatalf("the API server refuses the condition: %v\n%s", result.Error, expression)
	}
	condition := compiler.CompileCondition([]celplugin.ExpressionAccessor{accessor}, options, environment.StoredExpressions)
	return matchconditions.NewMatcher(condition, ptr.To(admissionregistrationv1.Fail), "webhook", "validating", "test")
}

func matches(t testing.TB, m matchconditions.Matcher, old, new *coordinationv1.Lease) bool {
	t.Helper()
	result := m.Match(context.Background(), attributes(old, new), nil, nil)
	if result.Error != nil {
		t.Errorf("evaluating the condition: %v", result.Error)
	}
	return result.Matches
}

func attributes(old, new *coordinationv1.Lease) *admission.VersionedAttributes {
	kind := coordinationv1.SchemeGroupVersion.WithKind("Lease")
	op, oldObject := admission.Create, runtime.Object(nil)
	if old != nil {
		op, oldObject = admission.Update, old
	}
	a := admission.NewAttributesRecord(new, oldObject, kind, new.Namespace, new.Name,
		schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "leases"}, "", op, nil, false, &user.DefaultInfo{Name: "u"})
	return &admission.VersionedAttributes{Attributes: a, VersionedKind: kind, VersionedObject: admission.NewLazyObject(new), VersionedOldObject: admission.NewLazyObject(oldObject)}
}

// lease makes a Lease kube-system/kube-scheduler. holder is a string, or nil for
// none.
func lease(holder any, annotations ...string) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
	if h, ok := holder.(string); ok {
		l.Spec.HolderIdentity = &h
	}
	for i := 0; i < len(annotations); i += 2 {
		metav1.SetMetaDataAnnotation(&l.ObjectMeta, annotations[i], annotations[i+1])
	}
	return l
}

func upstream(l *coordinationv1.Lease) *coordinationv1.Lease {
	l.Spec.Strategy = ptr.To(coordinationv1.OldestEmulationVersion)
	return l
}

var writes = []struct {
	name             string
	old, new         *coordinationv1.Lease
	contested, ruled bool
}{
	{name: "create with holder", new: lease("a"), contested: true, ruled: true},
	{name: "create without holder", new: lease(nil)},
	{name: "create with empty holder", new: lease("")},
	{name: "create with annotation of ours", new: lease(nil, "leasewarden.dev/step-down", "a"), ruled: true},
	{name: "create with other annotation", new: lease(nil, "x", "y")},
	{name: "renew", old: lease("a"), new: lease("a")},
	{name: "renew with stamps", old: lease("a", "leasewarden.dev/strategy", "x"), new: lease("a", "leasewarden.dev/strategy", "x")},
	{name: "renew that changes other annotation", old: lease("a", "x", "1", "leasewarden.dev/strategy", "x"), new: lease("a", "x", "2", "leasewarden.dev/strategy", "x")},
	{name: "renew that drops stamps", old: lease("a", "leasewarden.dev/strategy", "x"), new: lease("a"), ruled: true},
	{name: "renew that changes stamps", old: lease("a", "leasewarden.dev/strategy", "x"), new: lease("a", "leasewarden.dev/strategy", "y"), ruled: true},
	{name: "renew that adds stamps", old: lease("a"), new: lease("a", "leasewarden.dev/strategy", "y"), ruled: true},
	{name: "renew against an order", old: lease("a", "leasewarden.dev/step-down", "a"), new: lease("a", "leasewarden.dev/step-down", "a"), ruled: true},
	{name: "renew against an order, leaving it out", old: lease("a", "leasewarden.dev/step-down", "a"), new: lease("a"), ruled: true},
	{name: "renew while another one was told to go", old: lease("a", "leasewarden.dev/step-down", "b"), new: lease("a", "leasewarden.dev/step-down", "b")},
	{name: "renew with an empty order", old: lease("a", "leasewarden.dev/step-down", ""), new: lease("a", "leasewarden.dev/step-down", "")},
	{name: "release against an order", old: lease("a", "leasewarden.dev/step-down", "a"), new: lease("", "leasewarden.dev/step-down", "a")},
	{name: "touch while vacant, with an order that is left", old: lease("", "leasewarden.dev/step-down", "a"), new: lease("", "leasewarden.dev/step-down", "a")},
	{name: "touch while vacant, with an empty order", old: lease("", "leasewarden.dev/step-down", ""), new: lease("", "leasewarden.dev/step-down", "")},
	{name: "takeover after an order", old: lease("a", "leasewarden.dev/step-down", "a"), new: lease("b", "leasewarden.dev/step-down", "a"), contested: true, ruled: true},
	{name: "prefix of another group", old: lease("a"), new: lease("a", "leasewarden.dev.example/x", "y")},
	{name: "create with a strategy", new: upstream(lease(nil)), ruled: true},
	{name: "renew that sets a strategy", old: lease("a"), new: upstream(lease("a")), ruled: true},
	{name: "renew with a strategy", old: upstream(lease("a")), new: upstream(lease("a"))},
	{name: "release that sets a strategy", old: lease("a"), new: upstream(lease("")), ruled: true},
	{name: "release", old: lease("a"), new: lease("")},
	{name: "release by null", old: lease("a"), new: lease(nil)},
	{name: "release that drops stamps", old: lease("a", "leasewarden.dev/strategy", "x"), new: lease("")},
	{name: "takeover", old: lease("a"), new: lease("b"), contested: true, ruled: true},
	{name: "takeover with stamps", old: lease("a"), new: lease("b", "leasewarden.dev/strategy", "x"), contested: true, ruled: true},
	{name: "acquire after release", old: lease(""), new: lease("b"), contested: true, ruled: true},
	{name: "acquire from null", old: lease(nil), new: lease("b"), contested: true, ruled: true},
	{name: "touch while vacant", old: lease(""), new: lease(nil)},
	{name: "nobody to nobody that changes stamps", old: lease(""), new: lease("", "leasewarden.dev/strategy", "x"), ruled: true},
}

func TestWriteConditions(t *testing.T) {
	contested, ruled := matcher(t, contestCondition), matcher(t, ruledCondition)
	for _, w := range writes {
		t.Run(w.name, func(t *testing.T) {
			if got := matches(t, contested, w.old, w.new); got != w.contested {
				t.Errorf("contested: got %t, want %t", got, w.contested)
			}
			if got := matches(t, ruled, w.old, w.new); got != w.ruled {
				t.Errorf("ruled: got %t, want %t", got, w.ruled)
			}
		})
	}
}

func TestGovernedConditions(t *testing.T) {
	names := []string{"kube-system/kube-scheduler", "prod/*", "dev/a*c", "dev/x.y*"}
	conditions := governedConditions(celNamespacedName, names)
	if len(conditions) != 1 {
		t.Fatalf("got %d conditions, want 1: %q", len(conditions), conditions)
	}
	m := matcher(t, matchCondition(contestCondition, conditions[0]))
	for name, want := range map[string]bool{
		"kube-system/kube-scheduler":  true,
		"kube-system/kube-scheduler2": false,
		"other/kube-scheduler":        false,
		"prod/anything":               true,
		"prod2/anything":              false,
		"dev/abc":                     true,
		"dev/abcd":                    false,
		"dev/x.y":                     true,
		"dev/x.yz":                    true,
		"dev/xay":                     false,
	} {
		l := lease("a")
		l.Namespace, l.Name, _ = strings.Cut(name, "/")
		if got := matches(t, m, nil, l); got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
}

func TestGovernedConditionsStayWithinTheParsersLimit(t *testing.T) {
	var names []string
	for i := range 1500 {
		names = append(names, fmt.Sprintf("namespace-%04d/lease-of-a-component", i), fmt.Sprintf("namespace-%04d/other.*", i))
	}
	conditions := governedConditions(celNamespacedName, names)
	if len(conditions) < 2 {
		t.Fatal("all of it fits into one condition")
	}
	found := 0
	for _, c := range conditions {
		l := lease("a")
		l.Namespace, l.Name = "namespace-1499", "other.x"
		if matches(t, matcher(t, matchCondition(ruledCondition, c)), nil, l) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d of %d conditions match, want 1", found, len(conditions))
	}
}

// A write may carry 256 KiB of annotations. They must not exhaust the cost
// budget of the condition, or it would pass by the webhook.
func TestConditionsCopeWithManyAnnotations(t *testing.T) {
	l := lease("a", "leasewarden.dev/step-down", "b")
	for i := range 256 << 10 / len("12345") {
		l.Annotations[fmt.Sprintf("%05d", i)] = ""
	}
	governed := governedConditions(celNamespacedName, []string{"kube-system/kube-*"})[0]
	if !matches(t, matcher(t, matchCondition(ruledCondition, governed)), lease("a"), l) {
		t.Error("adding an annotation of ours among many others is not ruled on")
	}
	if !matches(t, matcher(t, matchCondition(contestCondition, governed)), lease("b"), l) {
		t.Error("a takeover with many annotations is not ruled on")
	}
}

func BenchmarkRenewalCondition(b *testing.B) {
	governed := governedConditions(celNamespacedName, []string{"kube-system/kube-scheduler", "prod/*"})[0]
	m := matcher(b, matchCondition(ruledCondition, governed))
	stamps := []string{"leasewarden.dev/strategy", "OldestEmulationVersion", "leasewarden.dev/criterion", "OldestEmulationVersion"}
	a := attributes(lease("a", stamps...), lease("a", stamps...))
	b.ReportAllocs()
	for b.Loop() {
		if m.Match(context.Background(), a, nil, nil).Matches {
			b.Fatal("a renewal matches")
		}
	}
}
