package audit

import (
	"bytes"
	"context"
	"testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/audit/generator"
	"github.com/leasewarden/leasewarden/candidates"
)

func generated(tb testing.TB, o generator.Options) []byte {
	tb.Helper()
	var log bytes.Buffer
	if err := generator.Write(&log, o); err != nil {
		tb.Fatal(err)
	}
	return log.Bytes()
}

func generatedPolicy() *candidates.ObjectSet {
	p := &v1alpha1.ElectionPolicy{}
	p.Namespace, p.Name = generator.Namespace, "all"
	p.Spec.Leases.Names = []string{"component-*"}
	p.Spec.Strategy.Name = v1alpha1.OldestEmulationVersion
	p.Spec.Candidates.Unregistered = v1alpha1.RegisterUnregistered
	p.Spec.Candidates.Pods = &v1alpha1.PodCandidates{
		LeaseName: &v1alpha1.FieldSource{FromLabel: "app"},
		Version:   &v1alpha1.VersionSource{FromLabel: "version"},
	}
	p.Spec.Candidates.Pods.Selector.MatchLabels = map[string]string{}
	p.Spec.Candidates.Pods.Selector.MatchExpressions = append(p.Spec.Candidates.Pods.Selector.MatchExpressions, hasLabel("app"))
	set := candidates.NewObjectSet()
	set.Add(p)
	return set
}

func BenchmarkAudit(b *testing.B) {
	for name, others := range map[string]float64{"all of it is about Leases and Pods": 0, "nine in ten lines are about something else": 0.9} {
		b.Run(name, func(b *testing.B) {
			log := generated(b, generator.Options{Bytes: 32 << 20, Others: others})
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				a, err := New(context.Background(), Options{Objects: generatedPolicy(), Paths: []string{"-"}, Stdin: bytes.NewReader(log)})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := a.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
