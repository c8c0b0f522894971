package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	appsv1 "k8s.io/api/apps/v1"
)

const keepAnnotation = "helm.sh/resource-policy"

// The chart and the kustomizations install the same.
func TestChartIsTheKustomization(t *testing.T) {
	for dir, values := range map[string]map[string]any{
		"default":                 {},
		"overlays/cert-manager":   {"certificates": map[string]any{"certManager": true}},
		"overlays/dry-run":        {"dryRun": true},
		"overlays/single-replica": {"replicas": 1},
		"overlays/static-webhook": {"certificates": map[string]any{"certManager": true}, "webhooks": map[string]any{"static": true}},
	} {
		t.Run(dir, func(t *testing.T) {
			want := kustomize(t, dir)
			// Helm makes the namespace itself.
			delete(want, "Namespace /"+namespace)
			got, err := render(t, values)
			if err != nil {
				t.Fatal(err)
			}
			crds := 0
			for key, o := range got {
				if strings.HasPrefix(key, "CustomResourceDefinition ") {
					crds++
					annotations := o.GetAnnotations()
					if annotations[keepAnnotation] != "keep" {
						t.Errorf("%s, and all policies with it, goes when the release is uninstalled", key)
					}
					delete(annotations, keepAnnotation)
					o.SetAnnotations(annotations)
				}
			}
			if crds != 4 {
				t.Errorf("the chart has %d CRDs", crds)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-kustomize +chart:\n%s", diff)
			}
		})
	}
}

func TestChartMonitoring(t *testing.T) {
	g := NewWithT(t)
	without, err := render(t, nil)
	g.Expect(err).NotTo(HaveOccurred())
	got, err := render(t, map[string]any{"monitoring": map[string]any{"enabled": true}})
	g.Expect(err).NotTo(HaveOccurred())
	for key := range without {
		delete(got, key)
	}
	if diff := cmp.Diff(kustomize(t, "monitoring"), got); diff != "" {
		t.Errorf("-kustomize +chart:\n%s", diff)
	}

	labels := map[string]any{"release": "prometheus"}
	got, err = render(t, map[string]any{"monitoring": map[string]any{"enabled": true, "labels": labels}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(get[*monitoringv1.PodMonitor](t, got).Labels).To(HaveKeyWithValue("release", "prometheus"))
	g.Expect(get[*monitoringv1.PrometheusRule](t, got).Labels).To(HaveKeyWithValue("release", "prometheus"))
}

func TestChartValues(t *testing.T) {
	g := NewWithT(t)
	got, err := render(t, map[string]any{
		"image":               map[string]any{"repository": "registry.example.com/leasewarden", "tag": "v1", "pullPolicy": "Always"},
		"imagePullSecrets":    []any{map[string]any{"name": "pull"}},
		"extraArgs":           []any{"--logging-format=json"},
		"crds":                map[string]any{"enabled": false},
		"podDisruptionBudget": map[string]any{"enabled": false},
		"priorityClassName":   "",
		"resources":           map[string]any{"limits": map[string]any{"memory": "1Gi"}},
		"nodeSelector":        map[string]any{"pool": "infra"},
		"tolerations":         []any{},
		"podAnnotations":      map[string]any{"a": "b"},
		"podLabels":           map[string]any{"c": "d"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	for key := range got {
		g.Expect(key).NotTo(HavePrefix("CustomResourceDefinition "))
		g.Expect(key).NotTo(HavePrefix("PodDisruptionBudget "))
		g.Expect(key).NotTo(HavePrefix("ResourceQuota "))
	}
	template := get[*appsv1.Deployment](t, got).Spec.Template
	g.Expect(template.Labels).To(HaveKeyWithValue("c", "d"))
	g.Expect(template.Annotations).To(HaveKeyWithValue("a", "b"))
	g.Expect(template.Spec.PriorityClassName).To(BeEmpty())
	g.Expect(template.Spec.Tolerations).To(BeEmpty())
	g.Expect(template.Spec.NodeSelector).To(Equal(map[string]string{"kubernetes.io/os": "linux", "pool": "infra"}))
	g.Expect(template.Spec.ImagePullSecrets).To(HaveLen(1))
	c := template.Spec.Containers[0]
	g.Expect(c.Image).To(Equal("registry.example.com/leasewarden:v1"))
	g.Expect(string(c.ImagePullPolicy)).To(Equal("Always"))
	g.Expect(c.Args).To(Equal([]string{"serve", "--logging-format=json"}))
	g.Expect(c.Resources.Limits.Memory().String()).To(Equal("1Gi"))
	g.Expect(c.Resources.Requests.Memory().String()).To(Equal("128Mi"))
}

func TestChartMountsASecret(t *testing.T) {
	g := NewWithT(t)
	got, err := render(t, map[string]any{"certificates": map[string]any{"secretName": "theirs"}})
	g.Expect(err).NotTo(HaveOccurred())
	spec := get[*appsv1.Deployment](t, got).Spec.Template.Spec
	g.Expect(spec.Volumes).To(HaveLen(1))
	g.Expect(spec.Volumes[0].Secret.SecretName).To(Equal("theirs"))
	mount := spec.Containers[0].VolumeMounts[0].MountPath
	g.Expect(spec.Containers[0].Args).To(Equal([]string{
		"serve", "--tls-cert-file=" + mount + "/tls.crt", "--tls-private-key-file=" + mount + "/tls.key",
	}))
	for key := range got {
		g.Expect(key).NotTo(HavePrefix("Certificate "))
	}
}

func TestChartRefusesBadValues(t *testing.T) {
	for field, values := range map[string]map[string]any{
		"replica":        {"replica": 3},
		"replicas":       {"replicas": 0},
		"dryRun":         {"dryRun": "yes"},
		"maxUnavailable": {"podDisruptionBudget": map[string]any{"maxUnavailable": 0}},
		"certManager":    {"webhooks": map[string]any{"static": true}},
		"tagg":           {"image": map[string]any{"tagg": "v1"}},
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v: the error is %v", values, err)
		}
	}
}

func TestChartLints(t *testing.T) {
	for _, m := range lint.RunAll(chartDir, nil, namespace).Messages {
		// An icon is all that may be missing.
		if !strings.Contains(m.Error(), "icon is recommended") {
			t.Error(m)
		}
	}
}
