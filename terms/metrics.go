package terms

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// Metrics are the metrics of the elections, and of what is done about terms.
// Their cardinality is bounded by the governed Leases. Only the replica that
// publishes has them.
type Metrics struct {
	// vacant, notChosen and enforced are 0 or 1. Leases that do not exist have
	// none of them.
	vacant, notChosen, enforced *prometheus.GaugeVec
	// candidates counts candidates, by whether they are eligible.
	candidates *prometheus.GaugeVec
	vacancies  *vacancies

	// changes counts terms that began after others, by how those ended.
	changes *prometheus.CounterVec
	// preemptions counts those that began, failures those that came to nothing.
	preemptions, failures *prometheus.CounterVec
	// releases counts Leases that were released for dead holders.
	releases *prometheus.CounterVec
	// refused counts writes that failed.
	refused prometheus.Counter
}

// leaseLabels name a Lease. Whatever has them is forgotten with it.
var leaseLabels = []string{"lease_namespace", "lease"}

// NewMetrics makes the metrics and registers them. The clock measures vacancies.
func NewMetrics(registry prometheus.Registerer, c clock.PassiveClock) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, append(leaseLabels, labels...))
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append(leaseLabels, labels...))
	}
	m := &Metrics{
		vacant:      gauge("leasewarden_lease_vacant", "1 while nobody holds the governed Lease, or else 0."),
		notChosen:   gauge("leasewarden_holder_not_chosen", "1 while the governed Lease is held by another candidate than the chosen one, or else 0."),
		enforced:    gauge("leasewarden_lease_enforced", "1 while the rulings on the governed Lease are enforced, 0 in dry-run."),
		candidates:  gauge("leasewarden_candidates", "Candidates of the governed Lease, by whether they are eligible.", "eligible"),
		vacancies:   newVacancies(c),
		changes:     counter("leasewarden_leader_changes_total", "Terms of the governed Lease that began after another one, by how that one ended.", "reason"),
		preemptions: counter("leasewarden_preemptions_total", "Holders of the governed Lease that were made to make way for another candidate, by why and how.", "reason", "method"),
		failures:    counter("leasewarden_preemption_failures_total", "Preemptions of holders of the governed Lease that came to nothing, and evictions that were refused.", "reason"),
		releases:    counter("leasewarden_early_releases_total", "Releases of the governed Lease for a holder that is dead, before its term had run out."),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "leasewarden_write_failures_total",
			Help: "Writes to Elections, policies and Leases that failed, and are tried again.",
		}),
	}
	registry.MustRegister(m.vacant, m.notChosen, m.enforced, m.candidates, m.vacancies, m.changes, m.preemptions, m.failures, m.releases, m.refused)
	return m
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
	m.vacancies.set(lease, status.Holder == nil)
	set(m.notChosen, meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionHolderNotChosen))
	set(m.enforced, status.Mode == v1alpha1.Enforce)
	count := func(eligible bool, n int) {
		m.candidates.WithLabelValues(lease.Namespace, lease.Name, strconv.FormatBool(eligible)).Set(float64(n))
	}
	count(true, eligible)
	count(false, candidates-eligible)
}

// gone forgets how it stood with the election of a Lease that was deleted.
func (m *Metrics) gone(lease types.NamespacedName) {
	m.vacancies.set(lease, false)
	for _, g := range []*prometheus.GaugeVec{m.vacant, m.notChosen, m.enforced, m.candidates} {
		g.DeletePartialMatch(labelsOf(lease))
	}
}

// forget drops all that was counted of a Lease, too.
func (m *Metrics) forget(lease types.NamespacedName) {
	m.gone(lease)
	m.vacancies.drop(lease)
	for _, c := range []*prometheus.CounterVec{m.changes, m.preemptions, m.failures, m.releases} {
		c.DeletePartialMatch(labelsOf(lease))
	}
}

func labelsOf(lease types.NamespacedName) prometheus.Labels {
	return prometheus.Labels{leaseLabels[0]: lease.Namespace, leaseLabels[1]: lease.Name}
}
