package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
)

// pickOptions are the flags of the command pick.
type pickOptions struct {
	files         []string
	lease         string
	output        pickOutput
	now           string
	verbose       bool
	allNamespaces bool
	kubeconfig    clusterFlags
}

func newPickCommand(clock clock.PassiveClock) *cobra.Command {
	o := &pickOptions{output: pickTable}
	c := &cobra.Command{
		Use:   "pick [-f FILE...] [--lease NAMESPACE/NAME] [-o table|json|yaml]",
		Short: "Shows who would be chosen to lead, and why.",
		Long:  pickLong, Example: pickExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unusable(fmt.Errorf("unexpected argument %q: give files with -f, and a Lease with --lease", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c, clock.Now()) },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable(err) })
	o.addFlags(c)
	return c
}

func (o *pickOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVarP(&o.files, "filename", "f", nil, "a file or directory with manifests, or - for standard input; may be given several times. Without it the cluster is asked")
	f.StringVar(&o.lease, "lease", "", "pick for this Lease only, as NAMESPACE/NAME or NAME; it need not exist")
	f.VarP(&o.output, "output", "o", "table, json or yaml")
	f.StringVar(&o.now, "now", "", "decide as of this time, such as 2026-01-31T15:04:05Z; the clock's if not given")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also say which objects were left out")
	f.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "pick for the Leases of all namespaces of the cluster")
	o.kubeconfig.addFlags(f, "pick for the Leases of this namespace; with -f it is also that of objects which give none")
	c.MarkFlagsMutuallyExclusive("namespace", "all-namespaces")
	cobra.CheckErr(c.MarkFlagFilename("filename", "yaml", "yml", "json"))
	cobra.CheckErr(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(pickOutputs, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *pickOptions) run(c *cobra.Command, now time.Time) error {
	if o.now != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, o.now); err != nil {
			return unusable(fmt.Errorf("--now: %q is not a time such as 2026-01-31T15:04:05Z", o.now))
		}
	}
	input, err := o.read(c)
	if err != nil {
		return unusable(err)
	}
	leases, err := input.leases(o.lease)
	if err != nil {
		return unusable(err)
	}
	elections := input.decide(leases, now)
	if err := o.output.write(c.OutOrStdout(), elections); err != nil {
		return unusable(err)
	}
	return undecided(elections)
}

func (o *pickOptions) read(c *cobra.Command) (*pickInput, error) {
	if len(o.files) > 0 {
		return o.readFiles(c)
	}
	return o.readCluster(c)
}

var errNoPolicyInFiles = errors.New("no policy in the input: give one with -f")
