package certs

import (
	"crypto/x509"

	"github.com/prometheus/client_golang/prometheus"
)

// registerMetrics registers the metrics of the serving certificate that leaf
// returns.
func registerMetrics(registry prometheus.Registerer, leaf func() (*x509.Certificate, error)) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leasewarden_certificate_expiration_timestamp_seconds",
		Help: "When the serving certificate expires, in seconds since the epoch. 0 while there is none.",
	}, func() float64 {
		leaf, err := leaf()
		if err != nil {
			return 0
		}
		return float64(leaf.NotAfter.Unix())
	}))
}
