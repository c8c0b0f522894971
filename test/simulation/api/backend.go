package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Backend is one replica of the webhook, as its Service knows it.
type Backend struct {
	Name    string
	Handler http.Handler

	mu      sync.Mutex
	dead    bool
	latency time.Duration
}

// Serve has a replica serve the webhook from now on.
func (s *Server) Serve(name string, h http.Handler) *Backend {
	b := &Backend{Name: name, Handler: h}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backends = append(s.backends, b)
	return b
}

// Withdraw takes a replica out of the Service.
func (s *Server) Withdraw(b *Backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.backends[:0:0]
	for _, o := range s.backends {
		if o != b {
			kept = append(kept, o)
		}
	}
	s.backends = kept
}

// Kill has all connections refused.
func (b *Backend) Kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = true
}

// SetLatency is how long an answer takes. One that is asked for after the
// timeout never comes.
func (b *Backend) SetLatency(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latency = d
}

func (b *Backend) state() (dead bool, latency time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dead, b.latency
}

// call posts a review to the hook's path at a replica.
func (f *Frontend) call(h *hook, body []byte) ([]byte, error) {
	b := f.pick()
	if b == nil {
		return nil, fmt.Errorf("no endpoints available for service %q", "leasewarden")
	}
	dead, latency := b.state()
	if dead {
		f.leave(b)
		return nil, fmt.Errorf("connect to %s: connection refused", b.Name)
	}
	if latency > h.timeout {
		time.Sleep(h.timeout)
		f.leave(b)
		return nil, fmt.Errorf("%s: context deadline exceeded", b.Name)
	}
	if latency > 0 {
		time.Sleep(latency / 2)
	}
	r := httptest.NewRequest(http.MethodPost, "https://leasewarden"+h.path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	b.Handler.ServeHTTP(w, r)
	if latency > 0 {
		time.Sleep(latency / 2)
	}
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d: %s", b.Name, w.Code, w.Body.String())
	}
	return w.Body.Bytes(), nil
}

// pick is the replica that this kube-apiserver has its connection to. It has
// another one after some hundred calls, and after each failure.
func (f *Frontend) pick() *Backend {
	f.server.mu.Lock()
	backends := f.server.backends
	f.server.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls["webhook"]++
	n := f.calls["webhook"]
	if len(backends) == 0 {
		return nil
	}
	if f.backend == nil || !contains(backends, f.backend) || n%97 == 0 {
		f.backend = backends[Draw(f.server.seed, f.name+" backend", n).IntN(len(backends))]
	}
	return f.backend
}

func contains(backends []*Backend, b *Backend) bool {
	for _, o := range backends {
		if o == b {
			return true
		}
	}
	return false
}

// leave ends the connection.
func (f *Frontend) leave(b *Backend) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.backend == b {
		f.backend = nil
	}
}
