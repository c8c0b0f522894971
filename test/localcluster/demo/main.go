// Command demo upgrades a leader-elected component on a real control plane,
// once without a policy of Leasewarden and once with one, and shows the
// difference. The cluster stays up to look around in.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// clusterName is the name that "make demo-down" stops.
	clusterName = "demo"
	// holdArgument makes this program the one that holds the cluster.
	holdArgument = "hold"
)

// repository is the root of the checkout; the demo is run from its module.
var repository = filepath.Join("..", "..")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	ctrllog.SetLogger(logr.Discard()) // what matters is an error or an event
	do := demo
	if len(os.Args) > 1 && os.Args[1] == holdArgument {
		do = hold
	}
	if err := do(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
