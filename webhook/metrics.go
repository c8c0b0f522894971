package webhook

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Metrics are the webhook's metrics.
type Metrics struct {
	// rulings counts rulings on contested Leases and refused writes to our
	// annotations. Its cardinality is bounded by the governed Leases that there
	// are.
	rulings *prometheus.CounterVec
	// duration is the time from a decoded review to its ruling, by half.
	duration *prometheus.HistogramVec
	// invalid counts requests that were no usable AdmissionReview.
	invalid *prometheus.CounterVec
	// failures counts usable reviews that were answered with an HTTP error, so
	// that the failure policy decided.
	failures *prometheus.CounterVec
	// skews counts the vacancies in which a newer version was turned away for an
	// older one, passedOver the candidates that were too silent to be waited for.
	skews, passedOver *prometheus.CounterVec

	series series
}

// leaseLabels name a Lease. Whatever has them is forgotten with it.
var leaseLabels = []string{"lease_namespace", "lease"}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		rulings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_rulings_total",
			Help: "Rulings on writes to governed Leases, by what the policy says (verdict, reason) and its mode.",
		}, append(leaseLabels, "transition", "verdict", "reason", "mode")),
		skews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_skew_preventions_total",
			Help: "Vacancies in which a candidate of a newer version was refused the governed Lease because one of an older version was chosen.",
		}, leaseLabels),
		passedOver: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_passed_over_candidates_total",
			Help: "Candidates that did not try to acquire the vacant governed Lease while others did, by the time it was acquired without them.",
		}, leaseLabels),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "leasewarden_ruling_duration_seconds",
			Help:    "Time from a decoded AdmissionReview to the ruling on it.",
			Buckets: []float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .25, 1},
		}, []string{"half"}),
		invalid: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_invalid_reviews_total",
			Help: "Requests that were refused because they are no usable AdmissionReview.",
		}, []string{"reason"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_failed_reviews_total",
			Help: "AdmissionReviews that were answered with an HTTP error, so that the failure policy decided.",
		}, []string{"reason"}),
	}
	registry.MustRegister(m.rulings, m.duration, m.invalid, m.failures, m.skews, m.passedOver)
	return m
}

// Values of the label half.
const (
	halfMutating   = "mutating"
	halfValidating = "validating"
)

// Values of the label reason of leasewarden_invalid_reviews_total.
const (
	invalidMethod      = "method"
	invalidContentType = "content_type"
	invalidTooLarge    = "too_large"
	invalidMalformed   = "malformed"
	invalidResource    = "resource"
)

// Values of the label reason of leasewarden_failed_reviews_total.
const (
	failureNotSynced = "not_synced"
	failureInternal  = "internal"
	failureBusy      = "busy"
	failurePanic     = "panic"
)

// ruled counts a ruling. Refused attempts to create Leases are counted
// together, and so are those that a request only plays through: their names may
// be made up.
func (m *Metrics) ruled(w *write, r *Ruling) {
	key := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
	if w.old == nil && (!r.Admits() || isDryRun(w.AdmissionRequest)) {
		key.Name = ""
	}
	known := m.series.touch(key)
	m.rulings.WithLabelValues(key.Namespace, key.Name, string(r.Transition), string(r.Verdict), string(r.Reason), string(r.Mode)).Inc()
	if isDryRun(w.AdmissionRequest) {
		return
	}
	if r.PreventsSkew && w.old != nil && known.isNewVacancy(w.old) {
		m.skews.WithLabelValues(key.Namespace, key.Name).Inc()
	}
	if r.PassedOver > 0 {
		m.passedOver.WithLabelValues(key.Namespace, key.Name).Add(float64(r.PassedOver))
	}
}

// Forget drops what was counted of Leases that exist says are none, or are not
// governed any more, if that was so the last time, too, and nothing was counted
// since. It bounds the memory that they take: call it now and then.
func (m *Metrics) Forget(exists func(types.NamespacedName) bool) {
	for _, key := range m.series.outdated(exists) {
		labels := prometheus.Labels{leaseLabels[0]: key.Namespace, leaseLabels[1]: key.Name}
		for _, v := range []*prometheus.CounterVec{m.rulings, m.skews, m.passedOver} {
			v.DeletePartialMatch(labels)
		}
	}
}
