package terms

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// Metrics are the metrics of the elections, and of what is done about terms.
// Their cardinality is bounded by the governed Leases. Only the replica that
// publishes has them.
type Metrics struct {
	// actions counts what was done.
	actions *prometheus.CounterVec
	// vacant, notChosen and enforced are 0 or 1. Leases that do not exist have
	// none of them.
	vacant, notChosen, enforced *prometheus.GaugeVec
	// candidates counts candidates, by whether they are eligible.
	candidates *prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, append([]string{"lease_namespace", "lease"}, labels...))
	}
	m := &Metrics{
		vacant:     gauge("leasewarden_lease_vacant", "1 while nobody holds the governed Lease, or else 0."),
		notChosen:  gauge("leasewarden_holder_not_chosen", "1 while the governed Lease is held by another candidate than the chosen one, or else 0."),
		enforced:   gauge("leasewarden_lease_enforced", "1 while the rulings on the governed Lease are enforced, 0 in dry-run."),
		candidates: gauge("leasewarden_candidates", "Candidates of the governed Lease, by whether they are eligible.", "eligible"),
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewarden_term_actions_total",
			Help: "What was done about the terms of governed Leases: step-downs ordered, taken back and cleared, evictions and refused ones, releases.",
		}, []string{"lease_namespace", "lease", "action"}),
	}
	registry.MustRegister(m.actions, m.vacant, m.notChosen, m.enforced, m.candidates)
	return m
}

// actionEvictionRefused is what the metrics call an eviction that a
// PodDisruptionBudget forbids.
const actionEvictionRefused = "EvictionRefused"

func (m *Metrics) acted(lease types.NamespacedName, action string) {
	m.actions.WithLabelValues(lease.Namespace, lease.Name, action).Inc()
}

// stands says how it stands with the election of a Lease that exists.
func (m *Metrics) stands(lease types.NamespacedName, status *v1alpha1.ElectionStatus, eligible, candidates int) {
	set := func(g *prometheus.GaugeVec, holds bool) {
		value := 0.0
		if holds {
			value = 1
		}
		g.WithLabelValues(lease.Namespace, lease.Name).Set(value)
	}
	set(m.vacant, status.Holder == nil)
	set(m.notChosen, meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionHolderNotChosen))
	set(m.enforced, status.Mode == v1alpha1.Enforce)
	count := func(eligible bool, n int) {
		m.candidates.WithLabelValues(lease.Namespace, lease.Name, strconv.FormatBool(eligible)).Set(float64(n))
	}
	count(true, eligible)
	count(false, candidates-eligible)
}

// gone forgets how it stood with the election of a Lease.
func (m *Metrics) gone(lease types.NamespacedName) {
	for _, g := range []*prometheus.GaugeVec{m.vacant, m.notChosen, m.enforced} {
		g.DeleteLabelValues(lease.Namespace, lease.Name)
	}
	for _, eligible := range []bool{true, false} {
		m.candidates.DeleteLabelValues(lease.Namespace, lease.Name, strconv.FormatBool(eligible))
	}
}
