package api

import (
	"fmt"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// Frontend is one kube-apiserver. Each has its own idea of the webhooks that are
// registered, a moment late, and its own connection to one of their replicas.
type Frontend struct {
	name   string
	server *Server

	mu         sync.Mutex
	down       bool
	validating []*hook
	mutating   []*hook
	backend    *Backend
	n          uint64
	calls      map[string]uint64
}

// NewFrontend adds a kube-apiserver.
func (s *Server) NewFrontend() *Frontend {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &Frontend{name: fmt.Sprintf("apiserver-%d", len(s.frontends)), server: s, calls: map[string]uint64{}}
	s.frontends = append(s.frontends, f)
	return f
}

// SetDown has it refuse all requests, or not any more.
func (f *Frontend) SetDown(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
	f.backend = nil
}

func (f *Frontend) isDown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.down
}

// maxConfigurationDelay is how late a kube-apiserver notices a configuration.
const maxConfigurationDelay = 400 * time.Millisecond

// configured takes up a webhook configuration, a moment later. The Server's
// lock is held.
func (f *Frontend) configured(c Commit) {
	var hooks []*hook
	if c.New != nil {
		hooks = parseHooks(c.Resource, c.New.JSON())
	}
	f.mu.Lock()
	f.n++
	delay := Between(Draw(f.server.seed, f.name+" configuration", f.n), 0, maxConfigurationDelay)
	f.mu.Unlock()
	version := c.Version
	time.AfterFunc(delay, func() { f.configure(c.Resource, version, hooks) })
}

func (f *Frontend) configure(resource string, version uint64, hooks []*hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to := &f.mutating
	if resource == Validating {
		to = &f.validating
	}
	for _, h := range *to {
		if h.version > version {
			return
		}
	}
	for _, h := range hooks {
		h.version = version
	}
	*to = hooks
}

func (f *Frontend) hooks(validating bool) []*hook {
	f.mu.Lock()
	defer f.mu.Unlock()
	if validating {
		return f.validating
	}
	return f.mutating
}

// Failure is what becomes of a call to a webhook that is not answered.
func failurePolicy(p *admissionregistrationv1.FailurePolicyType) admissionregistrationv1.FailurePolicyType {
	if p == nil {
		return admissionregistrationv1.Fail
	}
	return *p
}
