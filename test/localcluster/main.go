// A real Kubernetes cluster on this machine, from the command line:
//
//	go -C test/localcluster run . up
//	go -C test/localcluster run . status
//	go -C test/localcluster run . logs kube-apiserver
//	go -C test/localcluster run . down
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/leasewarden/leasewarden/test/localcluster/background"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "localcluster:", err)
		os.Exit(1)
	}
}

// options are the flags that all commands have.
type options struct {
	name string
}

func newCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "localcluster",
		Short: "A real Kubernetes cluster on this machine, without a container engine",
		Long: `A real Kubernetes cluster on this machine, without a container engine.

etcd and the Kubernetes components are built from their Go modules once, and
kept in the user's cache directory. Pods run as processes of this machine: an
image is the name of a program.`,
		Example: `  localcluster up
  localcluster status
  localcluster logs kube-apiserver
  localcluster down`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.CompletionOptions.DisableDefaultCmd = true
	command.PersistentFlags().StringVar(&o.name, "name", background.DefaultName, "name of the cluster")
	command.AddCommand(buildCommand(), upCommand(&o), holdCommand(&o), statusCommand(&o), logsCommand(&o), downCommand(&o))
	return command
}
