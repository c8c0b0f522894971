package manifests

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/leasewarden/leasewarden/terms"
	"github.com/leasewarden/leasewarden/webhook"
)

var update = flag.Bool("update", false, "write the table of docs/metrics.md anew")

const (
	metricsPage = root + "docs/metrics.md"
	tableBegins = "<!-- The table is generated: go -C test/manifests test -run TestMetricsPage -update -->\n"
	tableEnds   = "<!-- The end of what is generated. -->\n"
)

// exported are all metrics of Leasewarden, with one series each.
func exported(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewRegistry()
	f := &filler{Registerer: registry}
	webhook.NewMetrics(f)
	terms.NewMetrics(f, clock.RealClock{})
	newCatalogue(t) // has the certificate's in the manager's registry
	families := append(gather(t, registry), gather(t, metrics.Registry)...)
	families = append(families, f.lasting...)
	families = slices.DeleteFunc(families, func(m *dto.MetricFamily) bool { return !strings.HasPrefix(m.GetName(), "leasewarden_") })
	slices.SortFunc(families, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return families
}

// filler registers collectors, and has each of them have a series.
type filler struct {
	prometheus.Registerer
	// lasting are those of collectors that nobody can fill.
	lasting []*dto.MetricFamily
}

func (f *filler) MustRegister(all ...prometheus.Collector) {
	f.Registerer.MustRegister(all...)
	for _, c := range all {
		parts := describe(c)
		values := slices.Repeat([]string{"x"}, len(parts.labels))
		switch vec := c.(type) {
		case *prometheus.CounterVec:
			vec.WithLabelValues(values...).Inc()
		case *prometheus.GaugeVec:
			vec.WithLabelValues(values...).Set(1)
		case *prometheus.HistogramVec:
			vec.WithLabelValues(values...).Observe(1)
		case prometheus.Counter:
		default:
			f.lasting = append(f.lasting, counterFamily(parts))
		}
	}
}

// counterFamily is what a counter with that description is gathered as.
func counterFamily(d description) *dto.MetricFamily {
	m := &dto.Metric{Counter: &dto.Counter{}}
	for _, name := range slices.Sorted(slices.Values(d.labels)) {
		m.Label = append(m.Label, &dto.LabelPair{Name: &name})
	}
	return &dto.MetricFamily{Name: &d.name, Help: &d.help, Type: dto.MetricType_COUNTER.Enum(), Metric: []*dto.Metric{m}}
}

// docs/metrics.md has every metric, with its type, labels and meaning, and
// explains every label.
func TestMetricsPage(t *testing.T) {
	var table strings.Builder
	table.WriteString("\n| metric | type | labels | what it is |\n|---|---|---|---|\n")
	labels := map[string]bool{}
	for _, f := range exported(t) {
		names := "-"
		if len(f.Metric[0].Label) > 0 {
			names = ""
			for i, l := range f.Metric[0].Label {
				if i > 0 {
					names += ", "
				}
				names += "`" + l.GetName() + "`"
				labels[l.GetName()] = true
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), names, f.GetHelp())
	}
	table.WriteString("\n")

	page, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), tableBegins)
	old, after, ends := strings.Cut(rest, tableEnds)
	if !found || !ends {
		t.Fatalf("%s has no place for the table", metricsPage)
	}
	if *update {
		if err := os.WriteFile(metricsPage, []byte(before+tableBegins+table.String()+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(table.String(), old); diff != "" {
		t.Errorf("%s is out of date, run: go -C test/manifests test -run TestMetricsPage -update\n%s", metricsPage, diff)
	}
	for alert := range alerts(t, ruleFile(t)) {
		if !strings.Contains(after, "| `"+alert+"` |") {
			t.Errorf("%s does not have the alert %s", metricsPage, alert)
		}
	}
	for label := range labels {
		if !strings.Contains(after, "| `"+label+"` |") {
			t.Errorf("%s does not explain the label %s", metricsPage, label)
		}
	}
}

// The names are as Prometheus has them.
func TestMetricsAreWellNamed(t *testing.T) {
	families := exported(t)
	if len(families) < 15 {
		t.Fatalf("there are %d metrics", len(families))
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Metrics of a Lease say so by the same labels.
func TestMetricsOfALeaseNameIt(t *testing.T) {
	for _, f := range exported(t) {
		has := map[string]bool{}
		for _, l := range f.Metric[0].Label {
			has[l.GetName()] = true
		}
		if has["lease"] != has["lease_namespace"] || !has["lease"] && strings.Contains(f.GetHelp(), "the governed Lease") {
			t.Errorf("%s has the labels %v", f.GetName(), has)
		}
	}
}
