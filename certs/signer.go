package certs

import (
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"sync"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
	"github.com/cert-manager/cert-manager/pkg/server/tls/authority"
)

// signer stands between cert-manager's certificate source and its authority. It
// adds IP addresses to the leaf, which the source has no field for, and passes
// the news of a rotation on only when it is told to. It also keeps back a leaf
// whose CA is too new, as when a leaf is due for renewal just then.
type signer struct {
	cmtls.Authority
	ips []net.IP
	// early reports whether a leaf must not be served yet.
	early func(leaf *x509.Certificate) bool

	mu      sync.Mutex
	watches []chan<- struct{}
}

var _ cmtls.Authority = (*signer)(nil)

func (s *signer) Sign(template *x509.Certificate) (*x509.Certificate, error) {
	template.IPAddresses = s.ips
	leaf, err := s.Authority.Sign(template)
	if err == nil && s.early(leaf) {
		// By this error the source tries again, and says nothing of it.
		return nil, fmt.Errorf("%w: its CA is too new", authority.ErrCertificateNotAvailable)
	}
	return leaf, err
}

func (s *signer) WatchRotation(ch chan<- struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, ch)
}

func (s *signer) StopWatchingRotation(ch chan<- struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = slices.DeleteFunc(s.watches, func(c chan<- struct{}) bool { return c == ch })
}

// renew has the source ask for a new leaf.
func (s *signer) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range s.watches {
		// The channels have room for one: a source that is behind has been told.
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
