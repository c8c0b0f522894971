package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// errLost is the end of a component that has lost its Lease.
var errLost = errors.New("leader election lost")

// elect competes for a Lease of the pod's namespace until SIGTERM, as
// components do: by the name of the host, and with the pod's own token.
func elect(namespace, host string, args []string) error {
	o, after, err := electorOptions(args)
	if err != nil {
		return err
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 50, 100 // the election is not to wait for its client
	o.Namespace, o.Identity = namespace, host+"_"+string(uuid.NewUUID())
	o.Notify = func(r elector.Record) { _ = r.Write(os.Stdout) }
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	select {
	case <-time.After(after):
	case <-ctx.Done():
		return nil
	}
	if err := elector.Run(ctx, config, o); err != nil || ctx.Err() != nil {
		return err
	}
	return errLost
}

func electorOptions(args []string) (o elector.Options, after time.Duration, err error) {
	flags := flag.NewFlagSet("elect", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.Release, "release", true, "release the Lease at the end")
	flags.BoolVar(&o.Once, "once", false, "end when the Lease is lost")
	flags.DurationVar(&after, "after", 0, "how long it takes to start")
	flags.StringVar(&o.Coordinated, "coordinated", "", "version to register with for a coordinated election")
	if err := flags.Parse(args); err != nil {
		return o, 0, fmt.Errorf("elect: %w", err)
	}
	args = flags.Args()
	if len(args) != 4 {
		return o, 0, fmt.Errorf("elect wants LEASE LEASE_DURATION RENEW_DEADLINE RETRY_PERIOD, got %q", args)
	}
	parse := func(s string) time.Duration {
		d, e := time.ParseDuration(s)
		err = errors.Join(err, e)
		return d
	}
	o.Lease = args[0]
	o.Timings = elector.Timings{LeaseDuration: parse(args[1]), RenewDeadline: parse(args[2]), RetryPeriod: parse(args[3])}
	return o, after, err
}
