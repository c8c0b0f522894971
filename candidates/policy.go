package candidates

import (
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/picker/plugins"
)

// policyRef refers to a policy by its key.
func policyRef(kind string, key types.NamespacedName) picker.PolicyRef {
	return picker.PolicyRef{Kind: kind, Namespace: key.Namespace, Name: key.Name}
}

// Kinds of policies, as in a PolicyRef.
const (
	KindElectionPolicy        = "ElectionPolicy"
	KindClusterElectionPolicy = "ClusterElectionPolicy"
)

// Defaults of a policy, as in the API.
const (
	// DefaultMaxPriorityDuration ends a priority where the policy does not say
	// when.
	DefaultMaxPriorityDuration = 24 * time.Hour
	// DefaultMinTerm is how long a holder leads before it has to make way.
	DefaultMinTerm = 5 * time.Minute
	// DefaultCooldown is the least time between two preemptions.
	DefaultCooldown = time.Minute
)

// Policy is an ElectionPolicy or ClusterElectionPolicy, compiled. It does not
// change and is safe for use by several goroutines.
type Policy struct {
	Ref picker.PolicyRef
	// UID and Generation are those of the API object.
	UID        types.UID
	Generation int64
	// Created is when the API object was created.
	Created time.Time
	// Spec is the object's, with the defaults filled in.
	Spec *v1alpha1.ElectionPolicySpec
	// NamespaceSelector is that of a ClusterElectionPolicy.
	NamespaceSelector *metav1.LabelSelector
	// Compiled is what the picker needs. Nil if Errors are not empty.
	Compiled *picker.Policy
	// Errors say what is wrong with the policy. A policy with errors governs
	// nothing.
	Errors field.ErrorList
	// Excess says why there is no room for the policy in the registration, and
	// what to do. Such a policy governs nothing. Empty: there is (see Excess).
	Excess string

	// cost is how many bytes it takes there.
	cost       int
	names      names
	namespaces labels.Selector // nil: all
	pods       *podSource      // nil: the policy makes no candidates of Pods
	needs      needs
}

// podSource is a PodCandidates, compiled.
type podSource struct {
	*v1alpha1.PodCandidates
	selector labels.Selector
	// key is the canonical form of the selector.
	key     string
	pattern *identityPattern // nil: the usual forms
}

// CompilePolicy compiles a policy of a namespace. Its Errors hold what is
// wrong with it.
func CompilePolicy(p *v1alpha1.ElectionPolicy) *Policy {
	ref := picker.PolicyRef{Kind: KindElectionPolicy, Namespace: p.Namespace, Name: p.Name}
	return compile(ref, &p.ObjectMeta, &p.Spec, nil)
}

// CompileClusterPolicy compiles a policy of the cluster. Its Errors hold what
// is wrong with it.
func CompileClusterPolicy(p *v1alpha1.ClusterElectionPolicy) *Policy {
	ref := picker.PolicyRef{Kind: KindClusterElectionPolicy, Name: p.Name}
	return compile(ref, &p.ObjectMeta, &p.Spec.ElectionPolicySpec, p.Spec.NamespaceSelector)
}

func compile(ref picker.PolicyRef, meta *metav1.ObjectMeta, spec *v1alpha1.ElectionPolicySpec, namespaces *metav1.LabelSelector) *Policy {
	p := &Policy{
		Ref:               ref,
		UID:               meta.UID,
		Generation:        meta.Generation,
		Created:           meta.CreationTimestamp.Time,
		Spec:              withDefaults(spec),
		NamespaceSelector: namespaces,
		names:             parseNames(spec.Leases.Names),
		needs:             needsOf(spec),
	}
	p.Compiled, p.Errors = plugins.Compile(ref, p.Spec)
	p.Errors = append(p.Errors, unmentioned(p.Errors, p.compileSources())...)
	if len(p.Errors) > 0 {
		p.Compiled = nil
	}
	p.cost = p.registrationCost()
	return p
}

// unmentioned are the errors about fields that no error is known of: one fault is
// told once.
func unmentioned(known, errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		return slices.ContainsFunc(known, func(k *field.Error) bool { return k.Field == e.Field })
	})
}

// compileSources compiles what belongs to this package: which Leases and
// Namespaces, and who their candidates are.
func (p *Policy) compileSources() field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if len(p.Spec.Leases.Names) == 0 {
		errs = append(errs, field.Required(spec.Child("leases", "names"), "name at least one Lease; * stands for any run of characters"))
	}
	if p.NamespaceSelector != nil {
		s, err := metav1.LabelSelectorAsSelector(p.NamespaceSelector)
		if err != nil {
			errs = append(errs, field.Invalid(spec.Child("namespaceSelector"), p.NamespaceSelector, err.Error()))
		}
		p.namespaces = s
	}
	if pods := p.Spec.Candidates.Pods; pods != nil {
		source, podErrs := compilePods(pods, spec.Child("candidates", "pods"))
		p.pods = source
		errs = append(errs, podErrs...)
	}
	return errs
}

func compilePods(pods *v1alpha1.PodCandidates, path *field.Path) (*podSource, field.ErrorList) {
	var errs field.ErrorList
	selector, err := metav1.LabelSelectorAsSelector(&pods.Selector)
	switch {
	case err != nil:
		errs = append(errs, field.Invalid(path.Child("selector"), pods.Selector, err.Error()))
		selector = labels.Nothing()
	case selector.Empty():
		errs = append(errs, field.Required(path.Child("selector"), "an empty selector would select every Pod of the namespace"))
	}
	pattern, err := compilePattern(pods.IdentityPattern)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("identityPattern"), pods.IdentityPattern, err.Error()))
	}
	errs = append(errs, checkOneOf(path.Child("leaseName"), fieldSourceKeys(pods.LeaseName))...)
	errs = append(errs, checkOneOf(path.Child("version"), versionSourceKeys(pods.Version))...)
	errs = append(errs, checkOneOf(path.Child("emulationVersion"), versionSourceKeys(pods.EmulationVersion))...)
	return &podSource{PodCandidates: pods, selector: selector, key: selector.String(), pattern: pattern}, errs
}

// checkOneOf refuses a source that names no place to read from, or several.
// set is nil if there is no such source.
func checkOneOf(path *field.Path, set []bool) field.ErrorList {
	if set == nil {
		return nil
	}
	given := 0
	for _, s := range set {
		if s {
			given++
		}
	}
	if given == 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, given, "give exactly one place to read from")}
}

func fieldSourceKeys(s *v1alpha1.FieldSource) []bool {
	if s == nil {
		return nil
	}
	return []bool{s.FromLabel != "", s.FromAnnotation != ""}
}

func versionSourceKeys(s *v1alpha1.VersionSource) []bool {
	if s == nil {
		return nil
	}
	return []bool{s.FromLabel != "", s.FromAnnotation != "", s.FromImageTag != nil}
}

// withDefaults fills in the defaults that the API server fills in, for
// policies that come from files.
func withDefaults(spec *v1alpha1.ElectionPolicySpec) *v1alpha1.ElectionPolicySpec {
	spec = spec.DeepCopy()
	if spec.Mode == "" {
		spec.Mode = v1alpha1.Enforce
	}
	if spec.FailurePolicy == "" {
		spec.FailurePolicy = v1alpha1.Ignore
	}
	if spec.MaxPriorityDuration == nil {
		spec.MaxPriorityDuration = &metav1.Duration{Duration: DefaultMaxPriorityDuration}
	}
	defaultTerms(spec)
	if spec.Candidates.Unregistered == "" {
		spec.Candidates.Unregistered = v1alpha1.DenyUnregistered
	}
	if spec.Candidates.VerifyIdentity == nil {
		yes := true
		spec.Candidates.VerifyIdentity = &yes
	}
	if pods := spec.Candidates.Pods; pods != nil && pods.Eligible == "" {
		pods.Eligible = v1alpha1.EligibleRunning
	}
	return spec
}

// defaultTerms fills in when and how terms end early.
func defaultTerms(spec *v1alpha1.ElectionPolicySpec) {
	p := &spec.Preemption
	if p.When == "" {
		p.When = v1alpha1.PreemptNever
	}
	if p.Method == "" {
		p.Method = v1alpha1.DenyRenewal
	}
	if p.MinTerm == nil {
		p.MinTerm = &metav1.Duration{Duration: DefaultMinTerm}
	}
	if p.Cooldown == nil {
		p.Cooldown = &metav1.Duration{Duration: DefaultCooldown}
	}
	if spec.Failover.ReleaseOnTermination == nil {
		yes := true
		spec.Failover.ReleaseOnTermination = &yes
	}
}

// Governs reports whether p is fit to govern anything at all.
func (p *Policy) Governs() bool {
	return len(p.Errors) == 0 && p.Excess == "" && p.Spec.Mode != v1alpha1.Disabled
}

// governsNamespace reports whether p governs Leases of a namespace with these
// labels. A namespaced policy is only asked about its own namespace.
func (p *Policy) governsNamespace(set map[string]string) bool {
	return p.namespaces == nil || p.namespaces.Matches(labels.Set(set))
}

// SelectsName reports whether p's lease names match name.
func (p *Policy) SelectsName(name string) bool {
	return slices.Contains(p.names.exact, name) || p.names.matchesGlob(name)
}

// Exempts reports whether writes of that user are admitted whatever p says.
func (p *Policy) Exempts(user *authenticationv1.UserInfo) bool {
	e := p.Spec.Exempt
	if e == nil {
		return false
	}
	return slices.Contains(e.Users, user.Username) ||
		slices.ContainsFunc(user.Groups, func(group string) bool { return slices.Contains(e.Groups, group) })
}

// needs are the facts that only some policies look at.
type needs struct {
	revisions  bool
	heldByNode bool
}

// needsOf errs on the safe side: a Custom strategy may look at everything
// that a CEL expression can name.
func needsOf(spec *v1alpha1.ElectionPolicySpec) needs {
	s := &spec.Strategy
	custom := s.Name == v1alpha1.Custom || len(s.Filters) > 0
	uses := func(n v1alpha1.StrategyName) bool { return custom || s.Name == n || s.Base == n }
	return needs{
		revisions:  uses(v1alpha1.RolloutAware) || spec.Preemption.When == v1alpha1.PreemptAfterRollout,
		heldByNode: uses(v1alpha1.Spread),
	}
}

// is reports whether p is that generation of that object. Objects from files
// have no generation, so that each of them is new.
func (p *Policy) is(uid types.UID, generation int64) bool {
	return p != nil && generation != 0 && p.UID == uid && p.Generation == generation
}
