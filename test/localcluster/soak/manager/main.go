// The controller-runtime manager that the soak runs in Pods: it leads nothing, and
// says when it does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

func main() {
	namespace := flag.String("namespace", "", "namespace of the Lease")
	lease := flag.String("lease", "", "name of the Lease")
	leaseDuration := flag.Duration("lease-duration", 0, "as controller-runtime's")
	renewDeadline := flag.Duration("renew-deadline", 0, "as controller-runtime's")
	retryPeriod := flag.Duration("retry-period", 0, "as controller-runtime's")
	klog.InitFlags(nil)
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), *namespace, *lease, *leaseDuration, *renewDeadline, *retryPeriod); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, namespace, lease string, leaseDuration, renewDeadline, retryPeriod time.Duration) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	o := ctrl.Options{
		LeaderElection: true, LeaderElectionNamespace: namespace, LeaderElectionID: lease, LeaderElectionReleaseOnCancel: true,
		LeaseDuration: &leaseDuration, RenewDeadline: &renewDeadline, RetryPeriod: &retryPeriod,
		GracefulShutdownTimeout: ptr.To(2 * time.Second),
	}
	o.Metrics.BindAddress, o.HealthProbeBindAddress = "0", "0"
	m, err := ctrl.NewManager(config, o)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	if err := m.Add(led{host}); err != nil {
		return err
	}
	return m.Start(ctx)
}

// led is what the manager runs while it leads.
type led struct{ host string }

var (
	_ manager.Runnable               = led{}
	_ manager.LeaderElectionRunnable = led{}
)

// NeedLeaderElection is true: it is what is led.
func (led) NeedLeaderElection() bool { return true }

// Start says that the manager leads, until ctx ends.
func (l led) Start(ctx context.Context) error {
	say := func(leads bool) error {
		return elector.Record{Identity: l.host, Leads: leads, At: time.Now()}.Write(os.Stdout)
	}
	if err := say(true); err != nil {
		return err
	}
	<-ctx.Done()
	return say(false)
}
