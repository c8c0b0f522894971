package terms

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// standing is how far the registration got. The zero value is ready, and safe
// for concurrent use.
type standing struct {
	mu sync.Mutex
	// policies are those that are registered.
	policies map[picker.PolicyRef]policyVersion
	// problem is why the last attempt failed. Empty: it did not.
	problem string
	handler func()
}

type policyVersion struct {
	uid        types.UID
	generation int64
}

// succeeded notes that these policies are registered, and no others.
func (s *standing) succeeded(policies []*candidates.Policy) {
	now := make(map[picker.PolicyRef]policyVersion, len(policies))
	for _, p := range policies {
		now[p.Ref] = policyVersion{p.UID, p.Generation}
	}
	s.change(func() { s.policies, s.problem = now, "" })
}

// failed notes that an attempt to register failed. What was registered before
// still is.
func (s *standing) failed(err error) { s.change(func() { s.problem = err.Error() }) }

// lost notes that there is no registration.
func (s *standing) lost() { s.change(func() { s.policies = nil }) }

func (s *standing) change(change func()) {
	s.mu.Lock()
	policies, problem := s.policies, s.problem
	change()
	handle := s.handler
	if problem == s.problem && maps.Equal(policies, s.policies) {
		handle = nil
	}
	s.mu.Unlock()
	if handle != nil {
		handle()
	}
}

// Subscribe has handle called after what Problem returns may have changed. It
// must not block.
func (r *Registration) Subscribe(handle func()) {
	r.standing.mu.Lock()
	defer r.standing.mu.Unlock()
	r.standing.handler = handle
}

// Problem says why the API server does not ask us about the Leases of a policy
// as it is now. Empty: it does.
func (r *Registration) Problem(p *candidates.Policy) string {
	s := &r.standing
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, ok := s.policies[p.Ref]; ok && now == (policyVersion{p.UID, p.Generation}) {
		return ""
	}
	if s.problem != "" {
		return "the webhook cannot be registered for it: " + s.problem
	}
	return "the webhook is about to be registered for it"
}
