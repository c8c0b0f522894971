package plugins

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

var builtin = Registry()

// Compile makes a Policy of the spec of an ElectionPolicy, or of that part of a
// ClusterElectionPolicy's. It checks all that can be wrong with a spec by
// itself, so that what compiles also works, and applies the API's defaults. The
// errors name the fields, under "spec".
func Compile(ref picker.PolicyRef, spec *v1alpha1.ElectionPolicySpec) (*picker.Policy, field.ErrorList) {
	return CompileWith(builtin, ref, spec)
}

// CompileWith is Compile for a binary with plugins of its own.
func CompileWith(registry picker.Registry, ref picker.PolicyRef, spec *v1alpha1.ElectionPolicySpec) (*picker.Policy, field.ErrorList) {
	path := field.NewPath("spec")
	if spec == nil {
		return nil, field.ErrorList{field.Required(path, "a policy needs a spec")}
	}
	errs := validate(spec, path)
	policy := &picker.Policy{PolicyRef: ref, Mode: spec.Mode, Strategy: spec.Strategy.Name, Preempt: spec.Preemption.When}
	if policy.Mode == "" {
		policy.Mode = v1alpha1.Enforce
	}
	if spec.AcquireDeadline != nil {
		policy.AcquireDeadline = spec.AcquireDeadline.Duration
	}
	c := compiler{registry: registry, policy: policy}
	c.strategy(&spec.Strategy, path.Child("strategy"))
	if errs = append(errs, c.errs...); len(errs) > 0 {
		return nil, errs
	}
	return policy, nil
}
