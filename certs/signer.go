package certs

import (
	"crypto/x509"
	"net"
	"slices"
	"sync"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
)

// signer stands between cert-manager's certificate source and its authority. It
// adds IP addresses to the leaf, which the source has no field for, and passes
// the news of a rotation on only when it is told to.
type signer struct {
	cmtls.Authority
	ips []net.IP

	mu      sync.Mutex
	watches []chan<- struct{}
}

var _ cmtls.Authority = (*signer)(nil)

func (s *signer) Sign(template *x509.Certificate) (*x509.Certificate, error) {
	template.IPAddresses = s.ips
	return s.Authority.Sign(template)
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
