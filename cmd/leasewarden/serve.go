package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// serveCommand is the one that logs, where the others talk to a person.
const serveCommand = "serve"

func newServeCommand() *cobra.Command {
	o := defaultServeOptions()
	logging := logsapi.NewLoggingConfiguration()
	c := &cobra.Command{
		Use:   serveCommand,
		Short: "Runs the admission webhook and the controller.",
		Long: `Runs the admission webhook and the controller, inside a cluster or outside.

Outside a cluster, give --kubeconfig and a --webhook-url at which the API server
reaches this process, such as https://localhost:9443.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			logs.InitLogs()
			defer logs.FlushLogs()
			if err := logsapi.ValidateAndApply(logging, nil); err != nil {
				return err
			}
			ctrl.SetLogger(klog.Background())
			if err := o.complete(); err != nil {
				return err
			}
			return explain(serve(c.Context(), o))
		},
	}
	o.addFlags(c.Flags())
	logsapi.AddFlags(logging, c.Flags())
	return c
}

// serve runs until ctx ends, or something fails that waiting does not mend.
func serve(ctx context.Context, o *serveOptions) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	s.log.Info("Starting", "version", currentVersion(), "namespace", o.namespace, "dryRun", o.dryRun)
	return s.manager.Start(ctx)
}

// explain adds what to do to an error that a person can mend.
func explain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: end the other process, or choose another --webhook-port, --metrics-bind-address or --health-probe-bind-address", err)
	}
	return err
}
