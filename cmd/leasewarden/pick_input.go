package main

import (
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/report"
	"github.com/leasewarden/leasewarden/picker"
)

// pickInput is what decisions are made from.
type pickInput struct {
	objects *candidates.ObjectSet
	// podNamespaces are the namespaces that have Pods.
	podNamespaces sets.Set[string]
	// namespace restricts the Leases to those of one namespace. Empty: all.
	namespace string
	// warnings is where findings are written that keep nobody from leading.
	warnings io.Writer
}

// decide runs the picker for every Lease.
func (in *pickInput) decide(leases []types.NamespacedName, now time.Time) []report.Election {
	elections := make([]report.Election, len(leases))
	for i, key := range leases {
		lease := in.objects.Lease(key)
		view := candidates.Assemble(in.objects, in.objects.Governing(key), key, lease, now)
		for _, problem := range view.Problems {
			fmt.Fprintf(in.warnings, "warning: Lease %s: candidate %s: %s\n", key, problem.Candidate, problem.Message)
		}
		decision := picker.Decide(view.Policy, &view.State)
		elections[i] = report.NewElection(view, lease, &decision)
	}
	return elections
}
