package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// The API server's counters of calls of webhooks that failed.
const (
	rejections = "apiserver_admission_webhook_rejection_count"
	failOpens  = "apiserver_admission_webhook_fail_open_count"
)

// webhookFailures counts the calls of Leasewarden's webhooks that have failed since
// the API server was started, by the webhook and what became of the request.
func (s *site) webhookFailures(ctx context.Context) (map[string]float64, error) {
	text, err := s.kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("the API server's metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	counts := map[string]float64{}
	for _, family := range []string{rejections, failOpens} {
		for _, m := range families[family].GetMetric() {
			labels := labels(m)
			// A refusal is no failure.
			if strings.HasSuffix(labels["name"], "leasewarden.dev") && labels["error_type"] != "no_error" {
				counts[family+" of "+labels["name"]] += m.GetCounter().GetValue()
			}
		}
	}
	return counts, nil
}

func labels(m *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, label := range m.Label {
		all[label.GetName()] = label.GetValue()
	}
	return all
}

// more says by how much counters have grown.
func more(before, after map[string]float64) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if d := after[name] - before[name]; d > 0 {
			all = append(all, fmt.Sprintf("%s: %.0f", name, d))
		}
	}
	return all
}
