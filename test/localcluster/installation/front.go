package installation

import (
	"fmt"
	"io"
	"net"
	"sync/atomic"
)

// front is the one address at which the API server reaches all replicas, as a
// Service would be: each connection goes to the next one that takes it.
type front struct {
	listener net.Listener
	replicas []*Replica
	next     atomic.Int64
}

func listen() (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	return &front{listener: listener}, err
}

func (f *front) port() string {
	_, port, _ := net.SplitHostPort(f.listener.Addr().String())
	return port
}

func (f *front) serve() {
	for {
		from, err := f.listener.Accept()
		if err != nil {
			return
		}
		go f.forward(from)
	}
}

func (f *front) forward(from net.Conn) {
	defer from.Close()
	for range f.replicas {
		r := f.replicas[int(f.next.Add(1))%len(f.replicas)]
		to, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.webhook))
		if err != nil {
			continue
		}
		defer to.Close()
		done := make(chan struct{}, 2)
		pipe := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			done <- struct{}{}
		}
		go pipe(to, from)
		go pipe(from, to)
		<-done
		return
	}
}
