package terms

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// vacancies is the counter of the seconds in which nobody held a Lease. Unlike
// one that is added to when a vacancy ends, it grows while one lasts. It is safe
// for concurrent use.
type vacancies struct {
	clock clock.PassiveClock
	desc  *prometheus.Desc

	mu  sync.Mutex
	all map[types.NamespacedName]*vacantTime
}

// vacantTime is how long a Lease was vacant before, and since when it is now.
// Zero: it is not.
type vacantTime struct {
	before time.Duration
	since  time.Time
}

func newVacancies(c clock.PassiveClock) *vacancies {
	return &vacancies{
		clock: c, all: map[types.NamespacedName]*vacantTime{},
		desc: prometheus.NewDesc("leasewarden_lease_vacancy_seconds_total",
			"Seconds in which nobody held the governed Lease, from when a term ended, or was found to have ended.", leaseLabels, nil),
	}
}

// set notes whether a Lease is vacant from now on.
func (v *vacancies) set(lease types.NamespacedName, vacant bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, known := v.clock.Now(), v.all[lease]
	switch {
	case known == nil && !vacant:
		// A Lease that is only held has a counter, too: one that appears with its
		// first vacancy would hide it from rate().
		v.all[lease] = &vacantTime{}
	case known == nil:
		v.all[lease] = &vacantTime{since: now}
	case vacant && known.since.IsZero():
		known.since = now
	case !vacant:
		known.before, known.since = known.total(now), time.Time{}
	}
}

func (v *vacancies) drop(lease types.NamespacedName) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.all, lease)
}

func (t *vacantTime) total(now time.Time) time.Duration {
	if t.since.IsZero() {
		return t.before
	}
	return t.before + now.Sub(t.since)
}

// Describe implements prometheus.Collector.
func (v *vacancies) Describe(descs chan<- *prometheus.Desc) { descs <- v.desc }

// Collect implements prometheus.Collector.
func (v *vacancies) Collect(metrics chan<- prometheus.Metric) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.clock.Now()
	for lease, t := range v.all {
		metrics <- prometheus.MustNewConstMetric(v.desc, prometheus.CounterValue, t.total(now).Seconds(), lease.Namespace, lease.Name)
	}
}
