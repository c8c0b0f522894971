package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/report"
)

// statusOptions are the flags of the command status.
type statusOptions struct {
	hand
	output        pickOutput
	allNamespaces bool
	watch         bool
}

func newStatusCommand(clock clock.Clock) *cobra.Command {
	o := &statusOptions{hand: hand{clock: clock}, output: pickTable}
	c := &cobra.Command{
		Use:   "status [LEASE] [-A] [--watch] [-o table|json|yaml]",
		Short: "Shows who leads, who should, and why.",
		Long: `Shows the governed Leases, one on a line: who holds each, who is chosen, in which
mode, by what criterion, and how long the term has lasted. "same" means that the
chosen candidate is the holder. Of one Lease it shows everything: the candidates
with their verdicts and scores, what was asked for by hand, the conditions.

LEASE is NAME or NAMESPACE/NAME. JSON and YAML are the Elections as the API has
them, one after the other.`,
		Example: `  leasewarden status -A
  leasewarden status kube-system/kube-scheduler --watch`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, strings.Join(args, "")) },
	}
	o.addFlags(c)
	f := c.Flags()
	f.VarP(&o.output, "output", "o", "table, json or yaml")
	cobra.CheckErr(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(pickOutputs, noFiles)))
	f.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "show the Leases of all namespaces")
	f.BoolVarP(&o.watch, "watch", "w", false, "show it again when it changes")
	c.MarkFlagsMutuallyExclusive("namespace", "all-namespaces")
	return c
}

func (o *statusOptions) run(c *cobra.Command, lease string) error {
	switch {
	case lease != "" && o.allNamespaces:
		return unusable(errors.New("-A shows the Leases of all namespaces: leave it out, or the name of the Lease"))
	case o.watch && o.output != pickTable:
		return unusable(errors.New("--watch shows tables only: leave out -o"))
	case o.watch:
		return o.follow(c, lease)
	}
	all, err := o.read(c.Context(), lease)
	if err != nil {
		return err
	}
	return o.show(c.OutOrStdout(), all, lease, styleFor(c.OutOrStdout()))
}

// read reads the Election of a Lease, or those of all.
func (o *statusOptions) read(ctx context.Context, lease string) ([]v1alpha1.Election, error) {
	if lease == "" {
		return o.list(ctx)
	}
	e, err := o.governed(ctx, lease)
	if err != nil {
		return nil, err
	}
	return []v1alpha1.Election{*e}, nil
}

// show writes what was read.
func (o *statusOptions) show(w io.Writer, all []v1alpha1.Election, lease string, style report.Style) error {
	switch {
	case o.output != pickTable:
		return o.encode(w, all)
	case lease != "":
		return report.Page(w, &all[0], o.clock.Now(), style)
	case len(all) == 0:
		_, err := fmt.Fprintf(w, "No Lease is governed in %s: see other namespaces with -n or -A, or apply a policy.\n", place(o.place()))
		return err
	}
	return report.Overview(w, all, o.clock.Now(), style)
}

// place is the namespace that is shown, "" for all.
func (o *statusOptions) place() string {
	if o.allNamespaces {
		return ""
	}
	return o.namespace
}

// list reads the Elections of governed Leases, in order.
func (o *statusOptions) list(ctx context.Context) ([]v1alpha1.Election, error) {
	if err := o.connect(); err != nil {
		return nil, err
	}
	var list v1alpha1.ElectionList
	if err := o.client.List(ctx, &list, client.InNamespace(o.place())); err != nil {
		return nil, fmt.Errorf("listing Elections: %w", err)
	}
	governed := slices.DeleteFunc(list.Items, func(e v1alpha1.Election) bool { return e.Status.Policy == "" })
	slices.SortFunc(governed, func(a, b v1alpha1.Election) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return governed, nil
}

func (o *statusOptions) encode(w io.Writer, all []v1alpha1.Election) error {
	for i := range all {
		all[i].SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Election"))
		all[i].ManagedFields = nil
	}
	if o.output == pickJSON {
		return report.JSON(w, all)
	}
	return report.YAML(w, all)
}
