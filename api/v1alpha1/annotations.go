package v1alpha1

// Annotations that Leasewarden writes on a Lease when it admits an acquire.
const (
	// AnnotationPrefix starts every annotation and label key of Leasewarden.
	AnnotationPrefix = "leasewarden.dev/"

	// ElectedAnnotation is the holder identity that was elected. If the Lease has
	// another holder, it was acquired without Leasewarden, and the other three do
	// not speak of that holder.
	ElectedAnnotation = AnnotationPrefix + "elected"
	// ElectedByAnnotation names the policy by which the holder was elected.
	ElectedByAnnotation = AnnotationPrefix + "elected-by"
	// StrategyAnnotation names the strategy of that policy.
	StrategyAnnotation = AnnotationPrefix + "strategy"
	// CriterionAnnotation names the criterion that decided for the holder.
	CriterionAnnotation = AnnotationPrefix + "criterion"
)

// StepDownAnnotation tells the holder of a Lease, by its identity, to step
// down: its renewals are refused while its replacement is alive. Leasewarden
// writes it and removes it.
const StepDownAnnotation = AnnotationPrefix + "step-down"

// LeaseAnnotations are all the annotations of a Lease that only Leasewarden may
// write.
var LeaseAnnotations = []string{
	ElectedAnnotation,
	ElectedByAnnotation,
	StrategyAnnotation,
	CriterionAnnotation,
	StepDownAnnotation,
}

// Annotations that people write on a Pod.
const (
	// PriorityAnnotation is KEP-4355's candidate priority, a decimal int32.
	// Values above 0 take precedence over the base strategy.
	PriorityAnnotation = AnnotationPrefix + "priority"
	// PriorityUntilAnnotation ends a priority at an RFC 3339 time.
	PriorityUntilAnnotation = AnnotationPrefix + "priority-until"
)
