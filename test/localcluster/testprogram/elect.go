package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// elect competes for a Lease of the pod's namespace until SIGTERM, as
// components do: by the name of the host, and with the pod's own token.
func elect(namespace, host string, args []string) error {
	o, err := electorOptions(args)
	if err != nil {
		return err
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 50, 100 // the election is not to wait for its client
	o.Namespace, o.Identity, o.Release = namespace, host+"_"+string(uuid.NewUUID()), true
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return elector.Run(ctx, config, o)
}

func electorOptions(args []string) (o elector.Options, err error) {
	if len(args) != 4 {
		return o, fmt.Errorf("elect wants LEASE LEASE_DURATION RENEW_DEADLINE RETRY_PERIOD, got %q", args)
	}
	parse := func(s string) time.Duration {
		d, e := time.ParseDuration(s)
		err = errors.Join(err, e)
		return d
	}
	o.Lease = args[0]
	o.Timings = elector.Timings{LeaseDuration: parse(args[1]), RenewDeadline: parse(args[2]), RetryPeriod: parse(args[3])}
	return o, err
}
