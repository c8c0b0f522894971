package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/leasewarden/leasewarden/test/localcluster/background"
)

// demo plays both rounds on a new cluster and leaves that up. If anything goes
// wrong it leaves nothing.
func demo(ctx context.Context) (err error) {
	out := os.Stdout
	say(out, "Building the control plane and Leasewarden (5 to 10 minutes the first time)")
	if err := build(ctx, out); err != nil {
		return err
	}
	say(out, "Starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler, 3 nodes,\nand Leasewarden")
	stillThere := sayStillThere(out)
	state, err := up(ctx)
	stillThere()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, background.Down(context.WithoutCancel(ctx), clusterName))
		}
	}()
	without, with, err := play(ctx, out, state)
	if err != nil {
		return err
	}
	say(out, "What the two upgrades cost")
	printTable(out, without, with)
	goOn(out, state.Kubeconfig)
	return nil
}

// play plays the round without a policy and the round with one.
func play(ctx context.Context, out io.Writer, state background.State) (without, with *tally, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", state.Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	r := &round{client: client, auditLog: state.AuditLog, out: out}
	say(out, "Round 1: three kube-schedulers go from "+oldVersion+" to "+newVersion+", without a policy")
	without, err = r.play(ctx, func(ctx context.Context) error { return apply(ctx, config, "scheduler.yaml") })
	if err != nil {
		return nil, nil, err
	}
	say(out, "Round 2: the same with a policy, strategy OldestEmulationVersion")
	with, err = r.play(ctx, func(ctx context.Context) error { return governed(ctx, config, client) })
	return without, with, err
}

// governed applies the policy, then the schedulers.
func governed(ctx context.Context, config *rest.Config, client kubernetes.Interface) error {
	if err := apply(ctx, config, "policy.yaml"); err != nil {
		return err
	}
	if err := awaitRegistration(ctx, client); err != nil {
		return err
	}
	return apply(ctx, config, "scheduler.yaml")
}

// sayStillThere prints how long it takes, every few seconds, until the returned
// function is called.
func sayStillThere(out io.Writer) (stop func()) {
	started, ticker, done := time.Now(), time.NewTicker(5*time.Second), make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Fprintf(out, "    starting, %s ...\n", time.Since(started).Round(time.Second))
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		running.Wait()
	}
}

func say(out io.Writer, title string) { fmt.Fprintf(out, "\n==> %s\n", title) }

// goOn tells what can be looked at now.
func goOn(out io.Writer, kubeconfig string) {
	fmt.Fprintf(out, `
The cluster is still up. Look around:

  export KUBECONFIG=%s
  kubectl get elections -A
  kubectl -n %[2]s describe election %[3]s
  kubectl -n %[2]s get lease %[3]s -o yaml

Stop it with: make demo-down
`, kubeconfig, namespace, appName)
}
