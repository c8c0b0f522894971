package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

func TestServeNamesThePersonThatItRunsAs(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	warnOfPerson(log, "system:serviceaccount:leasewarden-system:leasewarden")
	g.Expect(lines).To(BeEmpty())
	warnOfPerson(log, "kubernetes-admin")
	g.Expect(lines).To(HaveExactElements(And(ContainSubstring("kubernetes-admin"), ContainSubstring("counts as written by Leasewarden"))))
}

func TestMissingCRDsDoNotFillTheLog(t *testing.T) {
	g := NewWithT(t)
	var said strings.Builder
	ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) { said.WriteString(line) }, funcr.Options{}))
	r := toolscache.NewReflector(&toolscache.ListWatch{}, nil, nil, 0)
	withoutMissing(ctx, r, apierrors.NewNotFound(schema.GroupResource{Group: "leasewarden.dev", Resource: "electionpolicies"}, ""))
	g.Expect(said.String()).To(BeEmpty())
	withoutMissing(ctx, r, errors.New("forbidden"))
	g.Expect(said.String()).To(ContainSubstring("forbidden"))
}
