// Command performance measures what Leasewarden costs, beside the same control
// plane without it, on this machine: latency, throughput, memory, processor time
// and writes, and how they grow.
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
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// module is this program's module, and repository the root of the checkout; the
// program is run from its module.
var (
	module     = "."
	repository = filepath.Join("..", "..")
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	ctrllog.SetLogger(logr.Discard()) // what matters is an error or a figure
	klog.SetLogger(logr.Discard())
	o := options{out: os.Stdout}
	flag.IntVar(&o.rounds, "rounds", 10, "how often to measure each figure that is compared")
	flag.StringVar(&o.rows, "rows", "", "numbers of the rows to measure, such as 1,2; empty for all")
	flag.BoolVar(&o.quick, "quick", false, "measure little of everything, to see whether it works")
	flag.StringVar(&o.markdown, "markdown", "", "also write the tables as Markdown to this file")
	flag.StringVar(&o.json, "json", "", "also write every single figure as JSON to this file")
	flag.StringVar(&o.plot, "plot", "", "also draw how figures grow as SVG to this file")
	flag.Parse()
	if err := run(ctx, &o); err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "performance:", err)
		os.Exit(1)
	}
}
