package plugins

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// Limits of the fields of a policy, as in the API.
const (
	maxLeaseNames      = 256
	maxIdentityPattern = 256
)

// leaseName is the pattern of LeaseSelection.names.
var leaseName = regexp.MustCompile(`^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?$`)

var (
	modes         = []v1alpha1.Mode{v1alpha1.Disabled, v1alpha1.DryRun, v1alpha1.Enforce}
	unregistered  = []v1alpha1.UnregisteredAction{v1alpha1.DenyUnregistered, v1alpha1.RegisterUnregistered}
	eligibleWhens = []v1alpha1.EligibleWhen{v1alpha1.EligibleReady, v1alpha1.EligibleRunning}
	preemptWhens  = []v1alpha1.PreemptWhen{v1alpha1.PreemptAfterRollout, v1alpha1.PreemptForBetter, v1alpha1.PreemptNever}
	methods       = []v1alpha1.PreemptionMethod{v1alpha1.DenyRenewal, v1alpha1.Evict}
)

// validate checks all of a spec but its strategy. It must not rely on the
// schema or the defaults of the CRD: a policy may come from a file.
func validate(spec *v1alpha1.ElectionPolicySpec, path *field.Path) field.ErrorList {
	errs := validateLeases(spec.Leases.Names, path.Child("leases", "names"))
	errs = append(errs, oneOf(spec.Mode, modes, path.Child("mode"))...)
	errs = append(errs, oneOf(spec.Candidates.Unregistered, unregistered, path.Child("candidates", "unregistered"))...)
	if pods := spec.Candidates.Pods; pods != nil {
		errs = append(errs, validatePods(pods, path.Child("candidates", "pods"))...)
	}
	errs = append(errs, notNegative(spec.AcquireDeadline, path.Child("acquireDeadline"))...)
	errs = append(errs, notNegative(spec.MaxPriorityDuration, path.Child("maxPriorityDuration"))...)
	errs = append(errs, validatePreemption(&spec.Preemption, path.Child("preemption"))...)
	return append(errs, validateContainer(spec.Failover.Container, path.Child("failover", "container"))...)
}

func validatePreemption(p *v1alpha1.Preemption, path *field.Path) field.ErrorList {
	errs := oneOf(p.When, preemptWhens, path.Child("when"))
	errs = append(errs, oneOf(p.Method, methods, path.Child("method"))...)
	errs = append(errs, notNegative(p.MinTerm, path.Child("minTerm"))...)
	return append(errs, notNegative(p.Cooldown, path.Child("cooldown"))...)
}

// validateContainer checks the name of a container. Empty: none is named.
func validateContainer(name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		return nil
	}
	for _, problem := range validation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, problem))
	}
	return errs
}

func validateLeases(names []string, path *field.Path) (errs field.ErrorList) {
	switch {
	case len(names) == 0:
		return append(errs, field.Required(path, "a policy needs the name of a Lease"))
	case len(names) > maxLeaseNames:
		return append(errs, field.TooMany(path, len(names), maxLeaseNames))
	}
	for i, name := range names {
		switch {
		case len(name) > validation.DNS1123SubdomainMaxLength:
			errs = append(errs, field.TooLong(path.Index(i), name, validation.DNS1123SubdomainMaxLength))
		case !leaseName.MatchString(name):
			errs = append(errs, field.Invalid(path.Index(i), name,
				"must be the name of a Lease: lower case letters, digits, '-' and '.', and '*' for any run of characters"))
		case slices.Contains(names[:i], name):
			errs = append(errs, field.Duplicate(path.Index(i), name))
		}
	}
	return errs
}

func validatePods(p *v1alpha1.PodCandidates, path *field.Path) field.ErrorList {
	selector := path.Child("selector")
	errs := metav1validation.ValidateLabelSelector(&p.Selector, metav1validation.LabelSelectorValidationOptions{}, selector)
	if len(p.Selector.MatchLabels) == 0 && len(p.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Required(selector, "an empty selector would make a candidate of every Pod"))
	}
	errs = append(errs, oneOf(p.Eligible, eligibleWhens, path.Child("eligible"))...)
	if p.LeaseName != nil {
		errs = append(errs, validateSource(p.LeaseName.FromLabel, p.LeaseName.FromAnnotation, nil, path.Child("leaseName"))...)
	}
	errs = append(errs, validateVersion(p.Version, path.Child("version"))...)
	errs = append(errs, validateVersion(p.EmulationVersion, path.Child("emulationVersion"))...)
	return append(errs, validateIdentityPattern(p.IdentityPattern, path.Child("identityPattern"))...)
}

func validateVersion(v *v1alpha1.VersionSource, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	return validateSource(v.FromLabel, v.FromAnnotation, v.FromImageTag, path)
}

// validateSource checks that a value is read from exactly one place.
func validateSource(label, annotation string, image *v1alpha1.ImageTagSource, path *field.Path) (errs field.ErrorList) {
	given := 0
	if label != "" {
		given++
		errs = append(errs, validateKey(label, path.Child("fromLabel"))...)
	}
	if annotation != "" {
		given++
		errs = append(errs, validateKey(annotation, path.Child("fromAnnotation"))...)
	}
	if image != nil {
		given++
	}
	if given != 1 {
		errs = append(errs, field.Invalid(path, given, "exactly one source must be given"))
	}
	return errs
}

func validateKey(key string, path *field.Path) (errs field.ErrorList) {
	for _, problem := range validation.IsQualifiedName(key) {
		errs = append(errs, field.Invalid(path, key, problem))
	}
	return errs
}

// hostnameGroup is the group of an identity pattern that gives the hostname.
const hostnameGroup = "hostname"

func validateIdentityPattern(pattern string, path *field.Path) field.ErrorList {
	if pattern == "" {
		return nil
	}
	if len(pattern) > maxIdentityPattern {
		return field.ErrorList{field.TooLong(path, pattern, maxIdentityPattern)}
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return field.ErrorList{field.Invalid(path, pattern, strings.TrimPrefix(err.Error(), "error parsing regexp: "))}
	}
	if expression.SubexpIndex(hostnameGroup) < 0 {
		return field.ErrorList{field.Invalid(path, pattern, `must have a group named "hostname": (?P<hostname>...)`)}
	}
	return nil
}

// oneOf checks a field whose empty value stands for its default.
func oneOf[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if value == "" || slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

func notNegative(d *metav1.Duration, path *field.Path) field.ErrorList {
	if d == nil || d.Duration >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, d.Duration.String(), "must not be negative")}
}
