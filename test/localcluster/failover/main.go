// Command failover measures how fast a leader is replaced, and how often, on a
// real control plane: by plain client-go, by the API server's coordinated leader
// election, and by Leasewarden, side by side.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// repository is the root of the checkout; the program is run from its module.
var repository = filepath.Join("..", "..")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	ctrllog.SetLogger(logr.Discard()) // what matters is an error or a figure
	o := options{out: os.Stdout}
	flag.IntVar(&o.rounds, "rounds", 10, "how often to measure each figure, for each contender")
	flag.StringVar(&o.only, "only", "", "measure only what has this text in its name")
	flag.StringVar(&o.markdown, "markdown", "", "also write the table as Markdown to this file")
	flag.StringVar(&o.json, "json", "", "also write every single figure as JSON to this file")
	flag.Parse()
	if err := run(ctx, &o); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}
