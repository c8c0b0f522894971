package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

func TestReadiness(t *testing.T) {
	waiting := errors.New("pods are being listed")
	checks := []check{{"certificate", nil}, {"caches", waiting}}
	server, err := newHealthServer("127.0.0.1:0", func() []check { return checks })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start: %v", err)
		}
	}()
	handler := server.(*manager.Server).Server.Handler
	get := func(path string) (int, string) {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
		return recorder.Code, recorder.Body.String()
	}
	if status, body := get("/readyz"); status != http.StatusServiceUnavailable || body != "[+] certificate\n[-] caches: pods are being listed\n" {
		t.Errorf("got %d %q", status, body)
	}
	if status, _ := get("/healthz"); status != http.StatusOK {
		t.Errorf("healthz: got %d", status)
	}
	checks[1].err = nil
	if status, body := get("/readyz"); status != http.StatusOK || body != "[+] certificate\n[+] caches\n" {
		t.Errorf("got %d %q", status, body)
	}
}

func TestPortInUse(t *testing.T) {
	server, err := newHealthServer("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	listener := server.(*manager.Server).Listener
	defer listener.Close()
	_, err = newHealthServer(listener.Addr().String(), nil)
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("got %v", err)
	}
	if text := explain(err).Error(); !strings.Contains(text, listener.Addr().String()) || !strings.Contains(text, "--health-probe-bind-address") {
		t.Errorf("the error does not say what to do: %s", text)
	}
}

func TestNoHealthServer(t *testing.T) {
	if server, err := newHealthServer("0", nil); server != nil || err != nil {
		t.Errorf("got %v, %v", server, err)
	}
}
