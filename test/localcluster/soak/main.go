// Command soak has leaders elected on a real control plane for half an hour, and
// kills, pauses and restarts everything in turn: Leasewarden, the API server, etcd
// and the candidates. It judges by what each elector itself believed, and ends with
// a table of faults and of what was seen.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// repository is the root of the checkout; the program is run from its module.
var repository = filepath.Join("..", "..")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	// What matters is what is seen.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil // they tell of an API server that is away
	o := options{out: os.Stdout, repository: repository, module: "."}
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "what the schedule is drawn from")
	flag.DurationVar(&o.duration, "duration", 30*time.Minute, "how long faults are injected")
	flag.StringVar(&o.faults, "faults", "", "inject only those with one of these texts, separated by commas, in their names. The names: "+strings.Join(names(faults), "; "))
	flag.BoolVar(&o.keep, "keep", false, "keep the logs also if nothing was found")
	flag.StringVar(&o.markdown, "markdown", "", "also write the table as Markdown to this file")
	flag.StringVar(&o.json, "json", "", "also write everything as JSON to this file")
	flag.Parse()
	if err := run(ctx, &o); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}
