package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/inventory"
)

// readCluster asks the cluster for what the decisions depend on.
func (o *pickOptions) readCluster(c *cobra.Command) (*pickInput, error) {
	config, namespace, err := o.kubeconfig.load()
	if errors.Is(err, errNoCluster) {
		return nil, errors.New("there is nothing to pick from: give manifests with -f, or a cluster with --kubeconfig")
	}
	if err != nil {
		return nil, err
	}
	if o.allNamespaces {
		namespace = ""
	}
	if ns, _, ok := splitLease(o.lease); ok {
		namespace = ns
	}
	scheme, err := inventory.NewScheme()
	if err != nil {
		return nil, err
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return readInventory(c, reader, namespace)
}

func readInventory(c *cobra.Command, from client.Reader, namespace string) (*pickInput, error) {
	found, err := inventory.Read(c.Context(), from, namespace)
	if err != nil {
		return nil, err
	}
	if len(found.Policies()) == 0 {
		return nil, fmt.Errorf("no policy for %s: look elsewhere with -n or -A, apply a policy, or give manifests with -f", place(namespace))
	}
	warnOfInvalid(c, found.Policies())
	return &pickInput{
		objects:       found.ObjectSet,
		podNamespaces: found.PodNamespaces,
		namespace:     namespace,
		warnings:      c.ErrOrStderr(),
	}, nil
}

// warnOfInvalid names policies that the cluster has, and that govern nothing.
func warnOfInvalid(c *cobra.Command, policies []*candidates.Policy) {
	for _, p := range policies {
		for _, problem := range p.Errors {
			fmt.Fprintf(c.ErrOrStderr(), "warning: %s governs nothing: %s\n", p.Ref, problem)
		}
	}
}
