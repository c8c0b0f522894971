package main

import (
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// checkTarget returns an error if the Election says that the candidate does not
// exist or may not lead.
func checkTarget(e *v1alpha1.Election, name string) error {
	lease := client.ObjectKeyFromObject(e)
	for i := range e.Status.Candidates {
		switch c := &e.Status.Candidates[i]; {
		case c.Name != name:
		case !c.Eligible:
			return fmt.Errorf("%s may not lead %s now: %s", name, lease, c.Reason)
		default:
			return nil
		}
	}
	if !listsAll(e) {
		return nil // The controller knows the others, and answers in the status.
	}
	return fmt.Errorf("%s is not a candidate for %s: %s", name, lease, candidateNames(e))
}

// listsAll reports whether the status names every candidate.
func listsAll(e *v1alpha1.Election) bool {
	_, total, _ := strings.Cut(e.Status.Eligible, "/")
	return total == "" || total == fmt.Sprint(len(e.Status.Candidates))
}

func candidateNames(e *v1alpha1.Election) string {
	if len(e.Status.Candidates) == 0 {
		return "there is none"
	}
	names := make([]string, len(e.Status.Candidates))
	for i := range e.Status.Candidates {
		names[i] = e.Status.Candidates[i].Name
	}
	return "there are " + strings.Join(names, ", ")
}

// leads reports whether that candidate holds the Lease.
func leads(e *v1alpha1.Election, name string) bool {
	return e.Status.Holder != nil && e.Status.Holder.Name == name
}
