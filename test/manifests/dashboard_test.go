package manifests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// dashboard is what of Grafana's format the test looks at.
type dashboard struct {
	UID, Title string
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, LegendFormat string }
	}
}

var (
	labelValues = regexp.MustCompile(`^label_values\((.+), ([a-z_]+)\)$`)
	variable    = regexp.MustCompile(`\$[a-z_]+`)
	legendLabel = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
)

func TestDashboard(t *testing.T) {
	g := NewWithT(t)
	config := get[*corev1.ConfigMap](t, kustomize(t, "monitoring"))
	g.Expect(config.Labels).To(HaveKeyWithValue("grafana_dashboard", "1"))
	g.Expect(config.Data).To(HaveLen(1))
	var d dashboard
	g.Expect(json.Unmarshal([]byte(config.Data["leasewarden.json"]), &d)).To(Succeed())
	g.Expect(d.UID).NotTo(BeEmpty())

	known := newCatalogue(t)
	variables := map[string]bool{}
	for _, v := range d.Templating.List {
		variables["$"+v.Name] = true
		if v.Type != "query" {
			continue
		}
		var query struct{ Query string }
		g.Expect(json.Unmarshal(v.Query, &query)).To(Succeed())
		parts := labelValues.FindStringSubmatch(query.Query)
		g.Expect(parts).To(HaveLen(3), query.Query)
		known.check(t, v.Name, fmt.Sprintf("count by (%s) (%s)", parts[2], parts[1]))
	}

	g.Expect(d.Panels).NotTo(BeEmpty())
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		g.Expect(ids[p.ID]).To(BeFalse(), "the ID of %s is taken", p.Title)
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				g.Expect(cells[[2]int{x, y}]).To(BeEmpty(), "%s covers another panel", p.Title)
				g.Expect(x).To(BeNumerically("<", 24), "%s is too wide", p.Title)
				cells[[2]int{x, y}] = p.Title
			}
		}
		g.Expect(p.Targets).NotTo(BeEmpty(), p.Title)
		for _, target := range p.Targets {
			query := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
			for _, name := range variable.FindAllString(query, -1) {
				g.Expect(variables).To(HaveKey(name), "in %s", p.Title)
			}
			known.check(t, p.Title, query)
			for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
				g.Expect(query).To(ContainSubstring(label[1]), "the legend of %s", p.Title)
			}
		}
	}
}
