package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Bounds of what clients can hold on to. API servers keep a few connections
// each, with many requests on one.
const (
	// maxConnections is how many there are at once. Further ones wait to be
	// accepted, so that those of the API servers go on.
	maxConnections = 256
	// maxStreams is how many requests there are at once on one of them.
	maxStreams = 100
	// handshakeTimeout bounds the TLS handshake, and how long the header of a
	// request takes to arrive.
	handshakeTimeout = 5 * time.Second
	// answerTimeout bounds a request from its header on to the end of the answer.
	answerTimeout = 15 * time.Second
	// idleTimeout ends a connection that has no request.
	idleTimeout = 90 * time.Second
	// maxHeaderBytes is far more than an API server sends.
	maxHeaderBytes = 64 << 10
	// shutdownTimeout bounds how long requests have to end.
	shutdownTimeout = time.Minute
)

// webhookServer serves controller-runtime's webhooks, whoever else is connected.
// Its own server lets clients have any number of connections.
type webhookServer struct {
	ctrlwebhook.Server
	mux         *http.ServeMux
	address     string
	tls         *tls.Config
	connections int
	listener    atomic.Pointer[net.Listener]
}

func newWebhookServer(o ctrlwebhook.Options) *webhookServer {
	config := &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	for _, configure := range o.TLSOpts {
		configure(config)
	}
	o.WebhookMux = http.NewServeMux()
	return &webhookServer{
		Server: ctrlwebhook.NewServer(o), mux: o.WebhookMux, address: net.JoinHostPort(o.Host, fmt.Sprint(o.Port)), tls: config, connections: maxConnections,
	}
}

// Start serves until ctx ends.
func (s *webhookServer) Start(ctx context.Context) error {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	s.listener.Store(&listener)
	server := &http.Server{
		Handler:           s.mux,
		TLSConfig:         s.tls,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: handshakeTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
	}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		ended <- server.Shutdown(ctx)
	}()
	if err := server.ServeTLS(netutil.LimitListener(listener, s.connections), "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}

// StartedChecker finds out whether the server listens by connecting to it.
func (s *webhookServer) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		listener := s.listener.Load()
		if listener == nil {
			return errors.New("webhook server has not been started yet")
		}
		dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: &tls.Config{InsecureSkipVerify: true}} // it is our own
		connection, err := dialer.Dial("tcp", (*listener).Addr().String())
		if err != nil {
			return fmt.Errorf("webhook server is not reachable: %w", err)
		}
		return connection.Close()
	}
}
