// Command allowall is a controller-runtime webhook that allows everything: what
// a webhook costs at least. It refuses dry-run requests, so that one can tell
// whether the API server asks it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	ctrllog.SetLogger(logr.Discard())
	o := webhook.Options{Host: "127.0.0.1"}
	flag.IntVar(&o.Port, "port", 0, "port to listen on")
	flag.StringVar(&o.CertDir, "certificates", "", "directory of tls.crt and tls.key")
	flag.Parse()
	server := webhook.NewServer(o)
	server.Register("/", &admission.Webhook{Handler: admission.HandlerFunc(allow)})
	if err := server.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "allowall:", err)
		os.Exit(1)
	}
}

func allow(_ context.Context, request admission.Request) admission.Response {
	if request.DryRun != nil && *request.DryRun {
		return admission.Denied("asked")
	}
	return admission.Allowed("")
}
