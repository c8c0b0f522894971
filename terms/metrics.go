package terms

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Metrics are the metrics of what is done about terms.
type Metrics struct {
	// actions counts what was done. Its cardinality is bounded by the governed
	// Leases.
	actions *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_term_actions_total",
			Help: "What was done about the terms of governed Leases: step-downs ordered, taken back and cleared, evictions and refused ones, releases.",
		}, []string{"lease_namespace", "lease", "action"}),
	}
	registry.MustRegister(m.actions)
	return m
}

// actionEvictionRefused is what the metrics call an eviction that a
// PodDisruptionBudget forbids.
const actionEvictionRefused = "EvictionRefused"

func (m *Metrics) acted(lease types.NamespacedName, action string) {
	m.actions.WithLabelValues(lease.Namespace, lease.Name, action).Inc()
}
