package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestPrometheusScrapesTheMetricsPort(t *testing.T) {
	g := NewWithT(t)
	monitor := get[*monitoringv1.PodMonitor](t, kustomize(t, "monitoring"))
	template := get[*appsv1.Deployment](t, kustomize(t, "default")).Spec.Template
	g.Expect(monitor.Namespace).To(Equal(namespace))
	g.Expect(template.Labels).To(Equal(monitor.Spec.Selector.MatchLabels))
	g.Expect(template.Spec.Containers[0].Ports).To(ContainElement(corev1.ContainerPort{
		Name: *monitor.Spec.PodMetricsEndpoints[0].Port, ContainerPort: 8080,
	}))
}

func TestAlertsUseMetricsThatExist(t *testing.T) {
	known := newCatalogue(t)
	for _, group := range get[*monitoringv1.PrometheusRule](t, kustomize(t, "monitoring")).Spec.Groups {
		for _, rule := range group.Rules {
			known.check(t, rule.Alert, rule.Expr.String())
		}
	}
}

// situation is what Prometheus has scraped every minute, from the first one on.
type situation struct {
	name   string
	series []string
	// minutes is when it is looked at.
	minutes int
	// want are the summaries of the alerts that fire then.
	want []string
}

const (
	lease = `{lease_namespace="kube-system", lease="kube-scheduler"}`
	alive = `leasewarden_certificate_expiration_timestamp_seconds{pod="a"} 9e9x120`
)

func with(more string) string { return strings.TrimSuffix(lease, "}") + ", " + more + "}" }

var situations = map[string][]situation{
	"LeasewardenLeaseVacant": {
		{
			"vacant, with candidates",
			[]string{"leasewarden_lease_vacant" + lease + " 0x10 1x10", "leasewarden_candidates" + with(`eligible="true"`) + " 2x20"}, 14,
			[]string{"Nobody leads kube-system/kube-scheduler, although there are candidates."},
		},
		{"vacant for a moment", []string{"leasewarden_lease_vacant" + lease + " 0x10 1 0x10", "leasewarden_candidates" + with(`eligible="true"`) + " 2x20"}, 14, nil},
		{"scaled to none", []string{"leasewarden_lease_vacant" + lease + " 1x20", "leasewarden_candidates" + with(`eligible="true"`) + " 0x20"}, 14, nil},
		{"held", []string{"leasewarden_lease_vacant" + lease + " 0x20", "leasewarden_candidates" + with(`eligible="true"`) + " 2x20"}, 14, nil},
	},
	"LeasewardenNoEligibleCandidate": {
		{
			"all filtered",
			[]string{
				"leasewarden_lease_vacant" + lease + " 1x20",
				"leasewarden_candidates" + with(`eligible="true"`) + " 0x20",
				"leasewarden_candidates" + with(`eligible="false"`) + " 3x20",
			}, 10,
			[]string{"Nobody leads kube-system/kube-scheduler, and no candidate is eligible."},
		},
		{
			"one is eligible",
			[]string{
				"leasewarden_lease_vacant" + lease + " 1x20",
				"leasewarden_candidates" + with(`eligible="true"`) + " 1x20",
				"leasewarden_candidates" + with(`eligible="false"`) + " 3x20",
			}, 10, nil,
		},
		{"scaled to none", []string{
			"leasewarden_lease_vacant" + lease + " 1x20",
			"leasewarden_candidates" + with(`eligible="true"`) + " 0x20",
			"leasewarden_candidates" + with(`eligible="false"`) + " 0x20",
		}, 10, nil},
	},
	"LeasewardenLeadersChangeOften": {
		{"every five minutes", []string{"leasewarden_leader_changes_total" + with(`reason="Expired"`) + " 0x4 1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x4 9x4"}, 49,
			[]string{"kube-system/kube-scheduler changed its leader 9 times in an hour."}},
		{"once for each of three replicas", []string{"leasewarden_leader_changes_total" + with(`reason="Released"`) + " 0x4 1x4 2x4 3x40"}, 49, nil},
	},
	"LeasewardenPreemptionsFail": {
		{"three times", []string{"leasewarden_preemption_failures_total" + with(`reason="NotTaken"`) + " 0x4 1x4 2x4 3x40"}, 40,
			[]string{"Holders of kube-system/kube-scheduler make way, and the chosen candidate does not take it."}},
		{"a budget forbids it", []string{"leasewarden_preemption_failures_total" + with(`reason="EvictionRefused"`) + " 0+1x40"}, 40, nil},
		{"once", []string{"leasewarden_preemption_failures_total" + with(`reason="TakenBack"`) + " 0x4 1x40"}, 40, nil},
	},
	"LeasewardenCannotWrite": {
		{"for long", []string{`leasewarden_write_failures_total 0+3x30`}, 15, []string{"Leasewarden cannot write to the API server."}},
		{"for a moment", []string{`leasewarden_write_failures_total 0 3x30`}, 15, nil},
	},
	"LeasewardenHolderNotChosen": {
		{
			"for long",
			[]string{"leasewarden_holder_not_chosen" + lease + " 1x100", "leasewarden_lease_enforced" + lease + " 1x100"}, 61,
			[]string{"kube-system/kube-scheduler is held by another candidate than the chosen one."},
		},
		{"not for long", []string{"leasewarden_holder_not_chosen" + lease + " 1x100", "leasewarden_lease_enforced" + lease + " 1x100"}, 59, nil},
		{"in dry-run", []string{"leasewarden_holder_not_chosen" + lease + " 1x100", "leasewarden_lease_enforced" + lease + " 0x100"}, 61, nil},
	},
	"LeasewardenReviewsFail": {
		{"all the time", []string{`leasewarden_failed_reviews_total{reason="panic"} 0+1x20`}, 12, []string{"Leasewarden answers reviews with errors: panic."}},
		{"after a start", []string{`leasewarden_failed_reviews_total{reason="not_synced"} 0 5x20`}, 12, nil},
	},
	"LeasewardenUnreachable": {
		{
			"admitted",
			[]string{`apiserver_admission_webhook_fail_open_count{name="leases.leasewarden.dev", type="validating"} 0+1x20`}, 12,
			[]string{"The API server does not reach the webhook leases.leasewarden.dev."},
		},
		{
			"refused",
			[]string{`apiserver_admission_webhook_rejection_count{name="leases.leasewarden.dev", error_type="calling_webhook_error"} 0+1x20`}, 12,
			[]string{"The API server does not reach the webhook leases.leasewarden.dev."},
		},
		{"ruled on", []string{`apiserver_admission_webhook_rejection_count{name="leases.leasewarden.dev", error_type="no_error"} 0+1x20`}, 12, nil},
		{"the webhook of somebody else", []string{`apiserver_admission_webhook_fail_open_count{name="leasewarden.dev.example.com"} 0+1x20`}, 12, nil},
	},
	"LeasewardenUnregisteredIdentity": {
		{
			"refused",
			[]string{"leasewarden_rulings_total" + with(`verdict="Deny", reason="NotRegistered", mode="Enforce"`) + " 0+30x20"}, 12,
			[]string{"An identity that is no candidate tries to acquire kube-system/kube-scheduler."},
		},
		{
			"a Lease that is made up",
			[]string{`leasewarden_rulings_total{lease_namespace="kube-system", lease="", verdict="Deny", reason="NotRegistered", mode="Enforce"} 0+30x20`}, 12,
			[]string{"An identity that is no candidate tries to acquire kube-system/a Lease that does not exist."},
		},
		{"not any more", []string{"leasewarden_rulings_total" + with(`verdict="Deny", reason="NotRegistered", mode="Enforce"`) + " 0 30x40"}, 30, nil},
		{"not chosen", []string{"leasewarden_rulings_total" + with(`verdict="Deny", reason="NotChosen", mode="Enforce"`) + " 0+30x20"}, 12, nil},
	},
	"LeasewardenCertificateExpires": {
		{
			"in 23 hours and a half", []string{fmt.Sprintf(`leasewarden_certificate_expiration_timestamp_seconds{pod="b"} %dx60`, 24*3600)}, 30,
			[]string{"The serving certificate of Leasewarden expires in 23h 30m 0s."},
		},
		{
			"never had", []string{`leasewarden_certificate_expiration_timestamp_seconds{pod="b"} 0x60`}, 30,
			[]string{"The serving certificate of Leasewarden has expired, or there is none."},
		},
		{"before there is one", []string{`leasewarden_certificate_expiration_timestamp_seconds{pod="b"} 0x5 9e9x60`}, 30, nil},
		{"in two days", []string{fmt.Sprintf(`leasewarden_certificate_expiration_timestamp_seconds{pod="b"} %dx60`, 48*3600)}, 30, nil},
	},
	"LeasewardenDown": {
		{"gone", []string{`leasewarden_certificate_expiration_timestamp_seconds{pod="b"} 9e9x10 stale`}, 20, []string{"Prometheus knows of no replica of Leasewarden."}},
		{"restarted", []string{`leasewarden_certificate_expiration_timestamp_seconds{pod="b"} 9e9x10 stale _x3 9e9x10`}, 20, nil},
	},
}

// Every alert fires when it should, not otherwise, and says something sensible.
func TestAlertsFire(t *testing.T) {
	file := ruleFile(t)
	for name := range alerts(t, file) {
		if len(situations[name]) < 2 {
			t.Errorf("no test has %s fire, and not fire", name)
		}
	}
	for alert, all := range situations {
		for _, s := range all {
			t.Run(alert+" "+s.name, func(t *testing.T) {
				rule := watch(t, file, alert, s)
				var got []string
				for _, a := range rule.ActiveAlerts() {
					if a.State != rules.StateFiring {
						continue
					}
					got = append(got, a.Annotations.Get("summary"))
					for name, text := range a.Annotations.Map() {
						if strings.TrimSpace(text) == "" || strings.Contains(text, "<error") || strings.Contains(text, "<no value>") {
							t.Errorf("the %s is %q", name, text)
						}
					}
					if a.Labels.Get("severity") == "" {
						t.Error("the alert has no severity")
					}
				}
				if diff := cmp.Diff(s.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// watch evaluates an alert every minute of a situation.
func watch(t *testing.T, file, alert string, s situation) *rules.AlertingRule {
	t.Helper()
	series := s.series
	if alert != "LeasewardenDown" {
		series = append(series, alive)
	}
	suite, err := promqltest.NewLazyLoader("load 1m\n  "+strings.Join(series, "\n  "), promqltest.LazyLoaderOpts{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = suite.Close() })
	rule := alerts(t, file)[alert]
	if rule == nil {
		t.Fatalf("there is no alert %s", alert)
	}
	query := rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage())
	for minute := range s.minutes + 1 {
		at := time.Unix(0, 0).UTC().Add(time.Duration(minute) * time.Minute)
		suite.WithSamplesTill(at, func(err error) {
			if err == nil {
				_, err = rule.Eval(suite.Context(), 0, at, query, nil, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	return rule
}

// ruleFile is the rules of the PrometheusRule, as Prometheus reads them.
func ruleFile(t *testing.T) string {
	t.Helper()
	content, err := yaml.Marshal(get[*monitoringv1.PrometheusRule](t, kustomize(t, "monitoring")).Spec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// alerts loads the alerts of a file, by name.
func alerts(t *testing.T, file string) map[string]*rules.AlertingRule {
	t.Helper()
	options := &rules.ManagerOptions{Context: t.Context(), Logger: promslog.NewNopLogger()}
	groups, errs := rules.NewManager(options).LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, file)
	for _, err := range errs {
		t.Error(err)
	}
	all := map[string]*rules.AlertingRule{}
	for _, group := range groups {
		for _, rule := range group.Rules() {
			all[rule.Name()] = rule.(*rules.AlertingRule)
		}
	}
	return all
}
