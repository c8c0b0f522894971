package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/documents"
)

// readFiles reads the manifests of -f.
func (o *pickOptions) readFiles(c *cobra.Command) (*pickInput, error) {
	reader := documents.Reader{Stdin: c.InOrStdin(), Namespace: o.kubeconfig.namespace}
	set, err := reader.Read(o.files...)
	if err != nil {
		return nil, err
	}
	if o.verbose {
		reportIgnored(c.ErrOrStderr(), set.Ignored())
	}
	in := &pickInput{
		objects:       candidates.NewObjectSet(),
		podNamespaces: sets.New[string](),
		namespace:     o.kubeconfig.namespace,
		warnings:      c.ErrOrStderr(),
	}
	for _, object := range set.Objects() {
		in.objects.Add(object.Object)
		if _, ok := object.Object.(*corev1.Pod); ok {
			in.podNamespaces.Insert(object.GetNamespace())
		}
	}
	if len(in.objects.Policies()) == 0 {
		return nil, noPolicyIn(set)
	}
	return in, checkPolicies(set, in.objects.Policies())
}

// checkPolicies says what is wrong with policies, and where they were read.
func checkPolicies(set *documents.Set, policies []*candidates.Policy) error {
	var errs []error
	for _, p := range policies {
		kind := schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: p.Ref.Kind}
		origin, _ := set.OriginOf(kind, p.Ref.Namespace, p.Ref.Name)
		for _, problem := range p.Errors {
			errs = append(errs, fmt.Errorf("%s: %s: %w", origin, p.Ref, problem))
		}
	}
	return errors.Join(errs...)
}

// noPolicyIn also names what could have been meant as one.
func noPolicyIn(set *documents.Set) error {
	for _, kind := range slices.Sorted(maps.Keys(set.Ignored())) {
		if strings.HasSuffix(kind, candidates.KindElectionPolicy) {
			return fmt.Errorf("%w (%s is none: the apiVersion is %s)", errNoPolicyInFiles, kind, v1alpha1.GroupVersion)
		}
	}
	return errNoPolicyInFiles
}

func reportIgnored(w io.Writer, ignored map[string]int) {
	for _, kind := range slices.Sorted(maps.Keys(ignored)) {
		fmt.Fprintf(w, "left out, no decision depends on it: %s (%d)\n", kind, ignored[kind])
	}
}
