package elector

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
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
	// Once ends when the Lease is lost, as the components of Kubernetes do.
	Once bool
	// Coordinated is a version, such as 1.37.2: the elector registers with it for
	// the API server's coordinated election, and never acquires by itself. Empty:
	// it competes as ever.
	Coordinated string
	// Notify is told when it begins to lead, and when it stops; also of the time
	// in which the process stood still. Default: nobody is.
	Notify func(Record)
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
	// What is led must have stopped before the Lease is released.
	competing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	view := &view{identity: o.Identity, notify: o.Notify}
	defer context.AfterFunc(ctx, func() {
		view.close()
		cancel()
	})()
	go view.watch(competing)
	elector, err := newElector(client, view, &o)
	if err != nil {
		return err
	}
	if o.Coordinated != "" {
		if err := register(competing, config, &o); err != nil {
			return err
		}
	}
	if o.Once {
		elector.Run(competing)
		return nil
	}
	wait.UntilWithContext(competing, elector.Run, 0)
	return nil
}

func newElector(client kubernetes.Interface, view *view, o *Options) (*leaderelection.LeaderElector, error) {
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &lock{view: view, Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Lease},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		}},
		LeaseDuration:   o.Timings.LeaseDuration,
		RenewDeadline:   o.Timings.RenewDeadline,
		RetryPeriod:     o.Timings.RetryPeriod,
		ReleaseOnCancel: o.Release,
		Coordinated:     o.Coordinated != "",
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: view.leads, OnStoppedLeading: view.stops,
		},
	})
}

// register keeps the LeaseCandidate that the API server elects from, as
// kube-scheduler does.
func register(ctx context.Context, config *rest.Config, o *Options) error {
	config = rest.CopyConfig(config)
	config.Timeout = 0 // it watches
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	candidate, _, err := leaderelection.NewCandidate(client, o.Namespace, o.Identity, o.Lease,
		o.Coordinated, o.Coordinated, coordinationv1.OldestEmulationVersion)
	if err != nil {
		return err
	}
	go candidate.Run(ctx)
	return nil
}
