package elector

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Timings are client-go's, by its names.
type Timings struct {
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// Options say what to compete for, and as whom.
type Options struct {
	// Namespace and Lease are the Lease's.
	Namespace, Lease string
	// Identity is what is written as the holder.
	Identity string
	Timings  Timings
	// Release gives the Lease up at the end. Otherwise the end is that of a
	// process that is killed.
	Release bool
}

// Run competes until ctx ends, again and again if the Lease is lost. The
// elector logs to the logger of ctx, or else to klog: so it tells of refusals.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	config = rest.CopyConfig(config)
	config.Timeout = o.Timings.RenewDeadline / 2 // as k8s.io/component-base does
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Lease},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		},
		LeaseDuration:   o.Timings.LeaseDuration,
		RenewDeadline:   o.Timings.RenewDeadline,
		RetryPeriod:     o.Timings.RetryPeriod,
		ReleaseOnCancel: o.Release,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return err
	}
	wait.UntilWithContext(ctx, elector.Run, 0)
	return nil
}
