package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// completionTimeout bounds how long a Tab waits for the cluster.
const completionTimeout = 3 * time.Second

// noFiles says that what is completed is no file.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeLeases has the shell complete the Lease, and what follows by the others,
// of a command that works on Elections.
func (h *hand) completeLeases(c *cobra.Command, others ...cobra.CompletionFunc) {
	c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch n := len(args); {
		case n == 0:
			return h.leasesFor(c, word)
		case n <= len(others):
			return others[n-1](c, args, word)
		}
		return nil, noFiles
	}
}

// leasesFor are the governed Leases: by name those of the namespace that is looked
// at, and of the others as NAMESPACE/NAME.
func (h *hand) leasesFor(c *cobra.Command, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	elections := h.known(c)
	var all []cobra.Completion
	for i := range elections {
		e := &elections[i]
		name, here := e.Namespace+"/"+e.Name, e.Namespace == h.namespace
		switch {
		case here && !strings.Contains(word, "/"):
			name = e.Name
		case !here && h.kubeconfig.namespace != "":
			continue
		}
		all = append(all, cobra.CompletionWithDesc(name, describeHolder(e)))
	}
	return matching(all, word), noFiles
}

// completeCandidates are those of the Lease that is the first argument.
func (h *hand) completeCandidates(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, noFiles
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	e, err := h.governed(ctx, args[0])
	if err != nil {
		return nil, noFiles
	}
	var all []cobra.Completion
	for i := range e.Status.Candidates {
		if v := &e.Status.Candidates[i]; v.Eligible {
			all = append(all, cobra.CompletionWithDesc(v.Name, describeCandidate(e, v)))
		}
	}
	// In the picker's order.
	return matching(all, word), noFiles | cobra.ShellCompDirectiveKeepOrder
}

func describeCandidate(e *v1alpha1.Election, v *v1alpha1.CandidateVerdict) string {
	text := strings.TrimSpace(v.Version + " on " + cmp.Or(v.Node, "no node"))
	if leads(e, v.Name) {
		text += ", leads"
	}
	return text
}

// completeNamespaces are those that have governed Leases.
func (h *hand) completeNamespaces(c *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	count := map[string]int{}
	h.kubeconfig.namespace = ""
	elections := h.known(c)
	for i := range elections {
		count[elections[i].Namespace]++
	}
	var all []cobra.Completion
	for _, namespace := range slices.Sorted(maps.Keys(count)) {
		all = append(all, cobra.CompletionWithDesc(namespace, fmt.Sprintf("%d governed", count[namespace])))
	}
	return matching(all, word), noFiles
}

// known are the Elections that may be read: all, or else those of the namespace.
// Nobody is told why there are none, in the middle of a command line.
func (h *hand) known(c *cobra.Command) []v1alpha1.Election {
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	s := &statusOptions{hand: *h, allNamespaces: true}
	all, err := s.list(ctx)
	h.client, h.namespace = s.client, s.namespace
	if err != nil && h.client != nil {
		var own v1alpha1.ElectionList
		if h.client.List(ctx, &own, client.InNamespace(h.namespace)) == nil {
			return own.Items
		}
	}
	return all
}

// completeContexts are those of the kubeconfig.
func completeContexts(c *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if f := c.Flags().Lookup("kubeconfig"); f != nil {
		rules.ExplicitPath = f.Value.String()
	}
	config, err := rules.Load()
	if err != nil {
		return nil, noFiles
	}
	return matching(slices.Sorted(maps.Keys(config.Contexts)), word), noFiles
}

// matching are those that begin with what was typed.
func matching(all []cobra.Completion, word string) []cobra.Completion {
	return slices.DeleteFunc(all, func(c cobra.Completion) bool { return !strings.HasPrefix(c, word) })
}
