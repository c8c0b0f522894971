package certs

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	testingclock "k8s.io/utils/clock/testing"
)

func TestExpiryMetric(t *testing.T) {
	g := NewWithT(t)
	clock := testingclock.NewFakeClock(time.Now())
	a := &fakeAuthority{}
	m := start(t, a, clock, "localhost")
	registry := prometheus.NewRegistry()
	g.Expect(registerMetrics(registry, m.leaf)).To(Succeed())
	expiry := func() float64 {
		families, err := registry.Gather()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(families).To(HaveLen(1))
		g.Expect(families[0].GetName()).To(Equal("leasewarden_certificate_expiration_timestamp_seconds"))
		return families[0].Metric[0].Gauge.GetValue()
	}
	g.Expect(expiry()).To(BeZero())

	a.rotate(t, clock.Now())
	g.Eventually(m.Ready, "5s").Should(Succeed())
	g.Expect(expiry()).To(BeNumerically("~", clock.Now().Add(8*time.Hour).Unix(), 1))
}
