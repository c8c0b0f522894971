package webhook

import (
	"github.com/prometheus/client_golang/prometheus"
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
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		rulings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_rulings_total",
			Help: "Rulings on writes to governed Leases, by what the policy says (verdict, reason) and its mode.",
		}, []string{"lease_namespace", "lease", "transition", "verdict", "reason", "mode"}),
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
	registry.MustRegister(m.rulings, m.duration, m.invalid, m.failures)
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
	failurePanic     = "panic"
)

// ruled counts a ruling. Refused attempts to create Leases are counted
// together: their names may be made up.
func (m *Metrics) ruled(w *write, r *Ruling) {
	namespace, name := w.Namespace, w.Name
	if w.old == nil && !r.Admits() {
		name = ""
	}
	m.rulings.WithLabelValues(namespace, name, string(r.Transition), string(r.Verdict), string(r.Reason), string(r.Mode)).Inc()
}
