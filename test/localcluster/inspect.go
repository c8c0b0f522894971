package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasewarden/leasewarden/test/localcluster/background"
)

func statusCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the cluster's processes",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			state, err := background.Status(o.name)
			if err != nil {
				return hint(err)
			}
			writeStatus(command.OutOrStdout(), state, time.Now())
			return nil
		},
	}
}

// writeStatus prints a table of at most 80 columns.
func writeStatus(out io.Writer, state background.State, now time.Time) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROCESS\tVERSION\tPID\tSTATE\tLOG")
	for _, p := range state.Processes {
		pid, running := "-", "ended"
		if p.Running {
			running = "running"
		}
		if p.PID != 0 {
			pid = fmt.Sprint(p.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\tlogs %s\n", p.Name, p.Version, pid, running, p.Name)
	}
	table.Flush()
	fmt.Fprintf(out, "\nup %s, held by PID %d\nkubeconfig: %s\n", now.Sub(state.Started).Round(time.Second), state.PID, state.Kubeconfig)
}

func logsCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the log of a component or node",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			state, err := background.Status(o.name)
			if err != nil {
				return hint(err)
			}
			var names []string
			for _, p := range state.Processes {
				names = append(names, p.Name)
				if p.Name == args[0] {
					return printFile(command.OutOrStdout(), p.Log)
				}
			}
			slices.Sort(names)
			return fmt.Errorf("there is no log of %q: choose one of %s", args[0], strings.Join(names, ", "))
		},
	}
}

func printFile(out io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(out, file)
	return err
}

func downCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster and remove its files",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			err := background.Down(command.Context(), o.name)
			if errors.Is(err, background.ErrNotUp) {
				// What was asked for is so.
				fmt.Fprintln(command.OutOrStdout(), "The local cluster is not up.")
				return nil
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), "The local cluster is down.")
			return nil
		},
	}
}

// hint says what to do about a cluster that is not up.
func hint(err error) error {
	if errors.Is(err, background.ErrNotUp) {
		return fmt.Errorf("%w: start it with \"up\"", err)
	}
	return err
}
