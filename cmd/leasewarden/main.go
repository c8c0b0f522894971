// Command leasewarden decides which instance of a leader-elected Kubernetes
// component becomes leader.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func main() { os.Exit(run(clock.RealClock{})) }

// run runs the command of the arguments, and returns its exit status.
func run(clock clock.Clock) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newCommand(clock)
	beCalled(root, os.Args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "leasewarden: "+err.Error())
	}
	return exitStatus(err)
}

func newCommand(clock clock.Clock) *cobra.Command {
	root := &cobra.Command{
		Use:           "leasewarden",
		Short:         "Decides which instance of a leader-elected Kubernetes component becomes leader.",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRun: func(c *cobra.Command, _ []string) {
			if c.Name() != serveCommand {
				// controller-runtime complains, with a stack, half a minute after
				// it was given no logger. What matters to a person is an error.
				ctrllog.SetLogger(logr.Discard())
			}
		},
	}
	root.AddCommand(
		newServeCommand(), newPickCommand(clock), newAuditCommand(clock), newSimulateCommand(clock), newVersionCommand(),
		newStatusCommand(clock), newHistoryCommand(clock), newSwitchoverCommand(clock),
		newPinCommand(clock), newUnpinCommand(clock), newPauseCommand(clock), newResumeCommand(clock),
		newUninstallCommand(clock), newDoctorCommand(clock),
	)
	for _, c := range root.Commands() {
		if c.Flags().Lookup("context") != nil {
			cobra.CheckErr(c.RegisterFlagCompletionFunc("context", completeContexts))
		}
	}
	return root
}
