package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// check is one thing that readiness depends on. Its error says what is waited
// for.
type check struct {
	name string
	err  error
}

// newHealthServer serves /healthz and /readyz. Unlike controller-runtime's, its
// /readyz does not withhold the reason. It returns nil for the address 0.
func newHealthServer(address string, ready func() []check) (manager.Runnable, error) {
	if address == "0" || address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { writeReadiness(w, ready()) })
	server := &manager.Server{
		Name:     "health",
		Server:   &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 64 << 10},
		Listener: listener,
	}
	return server, nil
}

func writeReadiness(w http.ResponseWriter, checks []check) {
	var body strings.Builder
	status := http.StatusOK
	for _, c := range checks {
		if c.err != nil {
			status = http.StatusServiceUnavailable
			fmt.Fprintf(&body, "[-] %s: %v\n", c.name, c.err)
		} else {
			fmt.Fprintf(&body, "[+] %s\n", c.name)
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	fmt.Fprint(w, body.String())
}
