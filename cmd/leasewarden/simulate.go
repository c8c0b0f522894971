package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/documents"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/simulatereport"
	"github.com/leasewarden/leasewarden/simulate"
)

// maxRuns bounds the runs of a simulation.
const maxRuns = 1_000_000

// simulateOptions are the flags of the command simulate.
type simulateOptions struct {
	scenario  string
	policies  []string
	output    auditOutput
	runs      int
	namespace string
}

func newSimulateCommand(clock clock.Clock) *cobra.Command {
	o := &simulateOptions{output: auditTable}
	c := &cobra.Command{
		Use:   "simulate --scenario FILE [--policy FILE...] [-o table|json|html]",
		Short: "Plays what would happen to a component, under policies and without.",
		Long:  simulateLong, Example: simulateExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unusable(fmt.Errorf("unexpected argument %q: give the scenario with --scenario, and policies with --policy", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c, clock) },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable(err) })
	f := c.Flags()
	f.StringVar(&o.scenario, "scenario", "", "the file with the scenario, or - for standard input")
	f.StringArrayVar(&o.policies, "policy", nil, "a file with one policy that governs the Lease; may be given several times, to compare")
	f.VarP(&o.output, "output", "o", "table, json or html")
	f.IntVar(&o.runs, "runs", 200, "how many times to play it, each time with other luck")
	f.StringVarP(&o.namespace, "namespace", "n", "", "the namespace of policies that give none")
	cobra.CheckErr(c.MarkFlagFilename("scenario", "yaml", "yml", "json"))
	cobra.CheckErr(c.MarkFlagFilename("policy", "yaml", "yml", "json"))
	cobra.CheckErr(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(auditOutputs, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

func (o *simulateOptions) run(c *cobra.Command, clock clock.Clock) error {
	scenario, err := o.readScenario(c.InOrStdin())
	if err != nil {
		return unusable(err)
	}
	contenders, err := o.contenders(c.InOrStdin())
	if err != nil {
		return unusable(err)
	}
	var done atomic.Int64
	total := int64(o.runs * len(contenders))
	stop := showProgress(c.ErrOrStderr(), clock, "runs", func() (int64, int64) { return done.Load(), total })
	defer stop()
	report := &simulatereport.Report{Scenario: scenario}
	for _, contender := range contenders {
		result, err := simulate.Run(c.Context(), scenario, contender, o.runs, func() { done.Add(1) })
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			return unusable(err)
		}
		report.Results = append(report.Results, result)
	}
	stop()
	return o.write(c.OutOrStdout(), report)
}

func (o *simulateOptions) write(w io.Writer, r *simulatereport.Report) error {
	switch o.output {
	case auditJSON:
		return simulatereport.JSON(w, r)
	case auditHTML:
		return simulatereport.HTML(w, r)
	}
	return simulatereport.Table(w, r)
}

func (o *simulateOptions) readScenario(stdin io.Reader) (*simulate.Scenario, error) {
	var text []byte
	var err error
	name := o.scenario
	switch {
	case o.scenario == "":
		return nil, errors.New("no scenario: give one with --scenario")
	case o.runs < 1 || o.runs > maxRuns:
		return nil, fmt.Errorf("--runs: must be from 1 to %d", maxRuns)
	case count(append(slices.Clone(o.policies), o.scenario), documents.Stdin) > 1:
		return nil, errors.New("standard input can be read only once: give - to one flag")
	case o.scenario == documents.Stdin:
		name = "standard input"
		text, err = io.ReadAll(stdin)
	default:
		text, err = os.ReadFile(o.scenario)
	}
	if err != nil {
		return nil, err
	}
	scenario, err := simulate.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return scenario, nil
}

// contenders are no policy, and each of the policies.
func (o *simulateOptions) contenders(stdin io.Reader) ([]simulate.Contender, error) {
	all := []simulate.Contender{{Name: "no policy"}}
	for _, path := range o.policies {
		contender, err := o.contender(path, stdin)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(c simulate.Contender) bool { return c.Name == contender.Name }) {
			contender.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		all = append(all, contender)
	}
	return all, nil
}

func (o *simulateOptions) contender(path string, stdin io.Reader) (simulate.Contender, error) {
	set, err := documents.Reader{Stdin: stdin, Namespace: o.namespace}.Read(path)
	if err != nil {
		return simulate.Contender{}, err
	}
	objects := func() *candidates.ObjectSet {
		s := candidates.NewObjectSet()
		for _, object := range set.Objects() {
			switch p := object.Object.(type) {
			case *v1alpha1.ElectionPolicy:
				p.Spec.Mode = v1alpha1.Enforce
			case *v1alpha1.ClusterElectionPolicy:
				p.Spec.Mode = v1alpha1.Enforce
			}
			s.Add(object.Object)
		}
		return s
	}
	policies := objects().Policies()
	if len(policies) != 1 {
		return simulate.Contender{}, fmt.Errorf("%s: has %d policies: give files with one each", path, len(policies))
	}
	return simulate.Contender{Name: policies[0].Ref.Name, Objects: objects}, checkPolicies(set, policies)
}
