package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/leasewarden/leasewarden/audit"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/auditreport"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/documents"
)

// auditOptions are the flags of the command audit.
type auditOptions struct {
	policies, files, logs []string
	output                auditOutput
	namespace             string
	all, verbose          bool
}

func newAuditCommand(clock clock.Clock) *cobra.Command {
	o := &auditOptions{output: auditTable}
	c := &cobra.Command{
		Use:   "audit --log FILE... [--policy FILE...] [-f FILE...] [-o table|json|html]",
		Short: "Tells from an audit log who led, and who would have under a policy.",
		Long:  auditLong, Example: auditExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unusable(fmt.Errorf("unexpected argument %q: give logs with --log, and policies with --policy", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c, clock) },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable(err) })
	f := c.Flags()
	f.StringArrayVar(&o.logs, "log", nil, "an audit log, plain or gzipped, or - for standard input; may be given several times, in any order")
	f.StringArrayVar(&o.policies, "policy", nil, "a file or directory with policies; may be given several times. Without one the terms of all Leases are shown")
	f.StringArrayVarP(&o.files, "filename", "f", nil, "a file or directory with manifests of Pods, Nodes and other things that the log does not have; may be given several times")
	f.VarP(&o.output, "output", "o", "table, json or html")
	f.StringVarP(&o.namespace, "namespace", "n", "", "the namespace of manifests that give none")
	f.BoolVarP(&o.all, "all", "A", false, "also show the Leases that no policy governs")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list every term and every refusal in the table")
	cobra.CheckErr(c.MarkFlagFilename("policy", "yaml", "yml", "json"))
	cobra.CheckErr(c.MarkFlagFilename("filename", "yaml", "yml", "json"))
	cobra.CheckErr(c.MarkFlagFilename("log"))
	cobra.CheckErr(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(auditOutputs, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

func (o *auditOptions) run(c *cobra.Command, clock clock.Clock) error {
	objects, err := o.read(c)
	if err != nil {
		return unusable(err)
	}
	a, err := audit.New(c.Context(), audit.Options{
		Objects: objects, Paths: o.logs, Stdin: c.InOrStdin(),
		All: o.all || len(objects.Policies()) == 0,
	})
	if err != nil {
		return unusable(err)
	}
	stop := showProgress(c.ErrOrStderr(), clock, unitBytes, a.Progress)
	r, err := a.Run()
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return unusable(err)
	}
	return o.write(c, r)
}

func (o *auditOptions) write(c *cobra.Command, r *audit.Report) error {
	w := c.OutOrStdout()
	switch o.output {
	case auditJSON:
		return auditreport.JSON(w, r)
	case auditHTML:
		return auditreport.HTML(w, r)
	}
	style := styleFor(w)
	return auditreport.Table(w, r, auditreport.Style{Width: style.Width, Color: style.Color, All: o.verbose})
}

// read reads policies and manifests.
func (o *auditOptions) read(c *cobra.Command) (*candidates.ObjectSet, error) {
	switch {
	case len(o.logs) == 0:
		return nil, errors.New("no audit log: give one with --log")
	case slices.Contains(append(slices.Clone(o.files), o.policies...), documents.Stdin) && slices.Contains(o.logs, documents.Stdin),
		count(o.logs, documents.Stdin) > 1:
		return nil, errors.New("standard input can be read only once: give - to one flag")
	}
	set, err := documents.Reader{Stdin: c.InOrStdin(), Namespace: o.namespace}.Read(append(slices.Clone(o.files), o.policies...)...)
	if err != nil {
		return nil, err
	}
	objects := candidates.NewObjectSet()
	for _, object := range set.Objects() {
		objects.Add(object.Object)
	}
	if len(o.policies) > 0 && len(objects.Policies()) == 0 {
		return nil, fmt.Errorf("no policy in %s", strings.Join(o.policies, ", "))
	}
	return objects, checkPolicies(set, objects.Policies())
}

func count(list []string, value string) int {
	n := 0
	for _, v := range list {
		if v == value {
			n++
		}
	}
	return n
}

// auditOutput is the value of -o.
type auditOutput string

const (
	auditTable auditOutput = "table"
	auditJSON  auditOutput = "json"
	auditHTML  auditOutput = "html"
)

var auditOutputs = []string{string(auditTable), string(auditJSON), string(auditHTML)}

// Set implements pflag.Value.
func (o *auditOutput) Set(value string) error {
	if !slices.Contains(auditOutputs, value) {
		return fmt.Errorf("must be one of %s", strings.Join(auditOutputs, ", "))
	}
	*o = auditOutput(value)
	return nil
}

// String implements pflag.Value.
func (o *auditOutput) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *auditOutput) Type() string { return "format" }
