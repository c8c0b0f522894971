package manifests

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/promql/parser"
	admissionmetrics "k8s.io/apiserver/pkg/admission/metrics"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/leasewarden/leasewarden/certs"
	"github.com/leasewarden/leasewarden/terms"
	"github.com/leasewarden/leasewarden/webhook"
)

// catalogue are the labels of each metric that there is, by its name.
type catalogue map[string][]string

// newCatalogue holds what Leasewarden exports, and what the API server does of
// its webhooks.
func newCatalogue(t *testing.T) catalogue {
	t.Helper()
	c := catalogue{}
	webhook.NewMetrics(c)
	terms.NewMetrics(c, clock.RealClock{})

	if len(gather(t, metrics.Registry)) == 0 {
		_, err := certs.NewSelfManaged(&rest.Config{}, certs.Options{Namespace: namespace, Hosts: []string{"localhost"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.add(gather(t, metrics.Registry))

	admissionmetrics.Metrics.ObserveWebhookFailOpen(t.Context(), "name", "validating")
	admissionmetrics.Metrics.ObserveWebhookRejection(t.Context(), "name", "validating", "UPDATE", admissionmetrics.WebhookRejectionCallingWebhookError, 0)
	c.add(gather(t, legacyregistry.DefaultGatherer))
	return c
}

func gather(t *testing.T, g prometheus.Gatherer) []*dto.MetricFamily {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(families, func(f *dto.MetricFamily) bool {
		return !strings.HasPrefix(f.GetName(), "leasewarden_") && !strings.HasPrefix(f.GetName(), "apiserver_admission_")
	})
}

func (c catalogue) add(families []*dto.MetricFamily) {
	for _, f := range families {
		labels := []string{}
		for _, label := range f.Metric[0].Label {
			labels = append(labels, label.GetName())
		}
		c[f.GetName()] = labels
	}
}

// description is what a Desc says.
type description struct {
	name, help string
	labels     []string
}

// printed is what a Desc prints: there is no other way to ask it.
var printed = regexp.MustCompile(`^Desc\{fqName: "([a-z_]+)", help: "([^"]*)", .*constLabels: .*variableLabels: \{([a-z_,]*)\}\}$`)

func describe(collector prometheus.Collector) description {
	descs := make(chan *prometheus.Desc, 1)
	collector.Describe(descs)
	parts := printed.FindStringSubmatch((<-descs).String())
	d := description{name: parts[1], help: parts[2]}
	if parts[3] != "" {
		d.labels = strings.Split(parts[3], ",")
	}
	return d
}

// Register takes up the metrics of a collector, also those that have no value yet.
func (c catalogue) Register(collector prometheus.Collector) error {
	d := describe(collector)
	c[d.name] = d.labels
	// Those of a histogram have no Desc of their own.
	c[d.name+"_bucket"], c[d.name+"_count"] = append(d.labels, "le"), d.labels
	return nil
}

func (c catalogue) MustRegister(collectors ...prometheus.Collector) {
	for _, collector := range collectors {
		_ = c.Register(collector)
	}
}

func (c catalogue) Unregister(prometheus.Collector) bool { return false }

// check says which metrics and labels of a query do not exist.
func (c catalogue) check(t *testing.T, where, query string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v in %s", where, err, query)
		return
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			labels, known := c[n.Name]
			if !known {
				t.Errorf("%s: there is no metric %q", where, n.Name)
				return nil
			}
			for _, m := range n.LabelMatchers {
				if m.Name != "__name__" && !slices.Contains(labels, m.Name) {
					t.Errorf("%s: %s has no label %s", where, n.Name, m.Name)
				}
			}
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				if !slices.Contains(c.labels(n.Expr), label) {
					t.Errorf("%s: there is no label %s to group by", where, label)
				}
			}
		}
		return nil
	})
}

// labels are those of all metrics in an expression.
func (c catalogue) labels(expr parser.Expr) []string {
	var all []string
	for _, selector := range parser.ExtractSelectors(expr) {
		for _, m := range selector {
			if m.Name == "__name__" {
				all = append(all, c[m.Value]...)
			}
		}
	}
	return all
}
