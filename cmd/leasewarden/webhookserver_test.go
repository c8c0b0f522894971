package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
)

// startWebhookServer starts a server that takes so many connections, and returns
// its address and a new client for it.
func startWebhookServer(t *testing.T, connections int) (address string, client func() *http.Client) {
	t.Helper()
	g := NewWithT(t)
	certified := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(certified.Close)
	server := newWebhookServer(ctrlwebhook.Options{
		Host: "127.0.0.1", TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.Certificates = certified.TLS.Certificates }},
	})
	server.connections = connections
	g.Expect(server.StartedChecker()(nil)).To(MatchError(ContainSubstring("not been started")))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		g.Expect(<-done).To(Succeed())
	})
	g.Eventually(func() error { return server.StartedChecker()(nil) }).Should(Succeed())
	// As in serve: the server listens before there is anything to serve.
	server.Register("/a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	return (*server.listener.Load()).Addr().String(), func() *http.Client {
		transport := certified.Client().Transport.(*http.Transport).Clone()
		transport.ForceAttemptHTTP2 = true
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport, Timeout: time.Second}
	}
}

func get(client *http.Client, address string) (string, error) {
	response, err := client.Get("https://" + address + "/a")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// Whoever opens connections and says nothing does not keep out who is connected,
// nor others for long.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	const connections = 8
	g := NewWithT(t)
	address, client := startWebhookServer(t, connections)
	kept := client()
	g.Expect(get(kept, address)).To(Equal("HTTP/2.0"))
	var silent []net.Conn
	for range 3 * connections {
		c, err := net.Dial("tcp", address)
		g.Expect(err).NotTo(HaveOccurred())
		defer c.Close()
		silent = append(silent, c)
	}
	late := silent[len(silent)-1]
	g.Expect(late.SetDeadline(time.Now().Add(time.Second))).To(Succeed())
	g.Expect(tls.Client(late, &tls.Config{InsecureSkipVerify: true}).Handshake()).To(MatchError(ContainSubstring("timeout")), "there is no room for another one")
	for range 20 {
		g.Expect(get(kept, address)).To(Equal("HTTP/2.0"), "on the connection that it has")
	}
	for _, c := range silent[connections:] { // or else they have their turn, one after the other
		g.Expect(c.Close()).To(Succeed())
	}
	other := client()
	g.Eventually(func() (string, error) { return get(other, address) }, 3*handshakeTimeout, 100*time.Millisecond).
		Should(Equal("HTTP/2.0"), "the silent ones are dropped")
}

// A request whose header is huge, or never ends, is ended.
func TestEndlessHeader(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after string
		want  string
	}{
		"slow": {"X-A: b\r\n", ""},
		"huge": {"X-A: " + string(make([]byte, 4*maxHeaderBytes)), "HTTP/1.1 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			address, _ := startWebhookServer(t, 8)
			c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
			g.Expect(err).NotTo(HaveOccurred())
			defer c.Close()
			g.Expect(c.SetDeadline(time.Now().Add(3 * handshakeTimeout))).To(Succeed())
			_, _ = io.WriteString(c, "GET /a HTTP/1.1\r\nHost: a\r\n"+tc.after) // the huge one is cut off
			answer, err := io.ReadAll(c)
			g.Expect(errors.Is(err, os.ErrDeadlineExceeded)).To(BeFalse(), "it is the server that ends it")
			g.Expect(string(answer)).To(HavePrefix(tc.want))
		})
	}
}
