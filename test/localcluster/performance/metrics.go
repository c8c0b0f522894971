package main

import (
	"bytes"
	"context"
	"io"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// families are metrics by name.
type families map[string]*dto.MetricFamily

func parse(r io.Reader) (families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(r)
}

// metrics are those of a replica.
func metrics(r *installation.Replica) (families, error) {
	response, err := http.Get(r.Metrics())
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return parse(response.Body)
}

// sum adds a metric up over all its labels. Of a histogram it is how often
// something was observed.
func (f families) sum(name string) float64 {
	total := 0.0
	for _, m := range f[name].GetMetric() {
		switch {
		case m.Counter != nil:
			total += m.Counter.GetValue()
		case m.Gauge != nil:
			total += m.Gauge.GetValue()
		case m.Histogram != nil:
			total += float64(m.Histogram.GetSampleCount())
		}
	}
	return total
}

// calls are how often the API server has asked a webhook.
type calls struct{ total float64 }

// calls counts by the API server's own metric. A match condition that is false is
// no call.
func (b *bench) calls(ctx context.Context) (calls, error) {
	raw, err := b.kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return calls{}, err
	}
	f, err := parse(bytes.NewReader(raw))
	return calls{f.sum("apiserver_admission_webhook_request_total")}, err
}
