package serviceproxy

import (
	"io"
	"net"
	"sync"
	"time"
)

// dialTimeout bounds a connection to a pod, which is on this machine.
const dialTimeout = 5 * time.Second

// frontend is one address of a Service.
type frontend struct {
	listener net.Listener

	mu       sync.Mutex
	backends []string
	next     int
}

func listen(address string, backends []string) (*frontend, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	f := &frontend{listener: listener, backends: backends}
	go f.serve()
	return f, nil
}

// close stops listening; connections that are open stay so, as with kube-proxy.
func (f *frontend) close() { _ = f.listener.Close() }

func (f *frontend) set(backends []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.backends = backends
}

func (f *frontend) pick() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = (f.next + 1) % len(f.backends)
	return f.backends[f.next]
}

func (f *frontend) serve() {
	for {
		connection, err := f.listener.Accept()
		if err != nil {
			return // closed
		}
		go forward(connection.(*net.TCPConn), f.pick())
	}
}

// forward connects the client to the backend until both are done.
func forward(client *net.TCPConn, backend string) {
	defer client.Close()
	connection, err := net.DialTimeout("tcp", backend, dialTimeout)
	if err != nil {
		// The client is to see a reset, not an empty answer.
		_ = client.SetLinger(0)
		return
	}
	server := connection.(*net.TCPConn)
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { pass(server, client) })
	both.Go(func() { pass(client, server) })
	both.Wait()
}

// pass copies one direction and hands on its end.
func pass(to, from *net.TCPConn) {
	if _, err := io.Copy(to, from); err != nil {
		// A broken direction breaks the connection.
		_ = to.Close()
		_ = from.Close()
		return
	}
	_ = to.CloseWrite()
}
