// Command leasewarden decides which instance of a leader-elected Kubernetes
// component becomes leader.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "leasewarden: "+err.Error())
		os.Exit(exitStatus(err))
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "leasewarden",
		Short:         "Decides which instance of a leader-elected Kubernetes component becomes leader.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServeCommand(), newPickCommand(clock.RealClock{}), newVersionCommand())
	return root
}
