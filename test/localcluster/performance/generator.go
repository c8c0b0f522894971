package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// generator asks a webhook as an API server does: by HTTP/1.1 over TLS, on
// connections that stay open. It takes little of the processor, so that it is not
// itself what is measured: requests are made once, and answers hardly looked at.
type generator struct {
	address, path string
	// server is the name in its certificate. Default: localhost.
	server  string
	trusted *x509.CertPool
	// bodies are asked in turn.
	bodies [][]byte
	// allowed is what each answer must be. Nil: anything.
	allowed     *bool
	connections int
}

// run asks for that long, on all connections. Each asks again once it has its
// answer.
func (g *generator) run(ctx context.Context, for_ time.Duration) (answers int64, took time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var asking sync.WaitGroup
	var count atomic.Int64
	conns := make([]*connection, g.connections)
	for i := range conns {
		if conns[i], err = g.connect(ctx, i); err != nil {
			return 0, 0, err
		}
		defer conns[i].Close()
	}
	start := time.Now()
	end := start.Add(for_)
	for _, c := range conns {
		asking.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				if err := c.ask(g.allowed); err != nil {
					cancel(err)
					return
				}
				count.Add(1)
			}
		})
	}
	asking.Wait()
	return count.Load(), time.Since(start), context.Cause(ctx)
}

// connection is one that has been open for a while: it has asked once.
type connection struct {
	*tls.Conn
	reader   *bufio.Reader
	requests [][]byte
	next     int
	buffer   bytes.Buffer
}

func (g *generator) connect(ctx context.Context, first int) (*connection, error) {
	// The API server speaks HTTP/1.1 with webhooks, so that they are balanced by
	// connections.
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: g.trusted, ServerName: cmp.Or(g.server, "localhost"), NextProtos: []string{"http/1.1"}}}
	conn, err := dialer.DialContext(ctx, "tcp", g.address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn.(*tls.Conn), reader: bufio.NewReader(conn), next: first}
	for _, body := range g.bodies {
		head := fmt.Sprintf("POST %s?timeout=1s HTTP/1.1\r\nHost: %s\r\nUser-Agent: kube-apiserver-admission\r\nContent-Length: %d\r\n"+
			"Accept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n", g.path, g.address, len(body))
		c.requests = append(c.requests, append([]byte(head), body...))
	}
	return c, c.ask(nil)
}

var (
	allowed = []byte(`"allowed":true`)
	denied  = []byte(`"allowed":false`)
)

// ask asks once and checks the answer.
func (c *connection) ask(want *bool) error {
	request := c.requests[c.next%len(c.requests)]
	c.next++
	if _, err := c.Write(request); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	c.buffer.Reset()
	if _, err := io.Copy(&c.buffer, response.Body); err != nil {
		return err
	}
	answer := denied
	if want != nil && *want {
		answer = allowed
	}
	if response.StatusCode != http.StatusOK || want != nil && !bytes.Contains(c.buffer.Bytes(), answer) {
		return fmt.Errorf("%s answers %s: %s", c.RemoteAddr(), response.Status, c.buffer.Bytes())
	}
	return nil
}
