package certs

import (
	"fmt"
	"net"
	"time"
)

const (
	// DefaultSecretName is the Secret of the CA.
	DefaultSecretName = "leasewarden-ca"
	// DefaultCADuration and DefaultLeafDuration are how long certificates are
	// valid. They are renewed after two thirds of it.
	DefaultCADuration   = 365 * 24 * time.Hour
	DefaultLeafDuration = 7 * 24 * time.Hour
	// DefaultRotationDelay is how long a leaf of the previous CA is still served
	// after a new CA has been made. Meanwhile both are published, and the API
	// servers get to know.
	DefaultRotationDelay = time.Minute
	// trustOverlap is how long the previous CA stays published after a new one
	// has been made. It outlasts the rotation delay in every replica.
	trustOverlap = time.Hour
)

// Options say whom a certificate is for and where its CA is kept.
type Options struct {
	// Namespace and SecretName name the Secret of the CA.
	// SecretName's default: DefaultSecretName.
	Namespace, SecretName string
	// Hosts are the names and IP addresses by which the API server reaches the
	// webhook. At least one; the first is the one that it calls.
	Hosts []string
	// CADuration, LeafDuration and RotationDelay have the defaults above.
	// LeafDuration must be less than CADuration.
	CADuration, LeafDuration, RotationDelay time.Duration
}

func (o *Options) complete() error {
	if o.SecretName == "" {
		o.SecretName = DefaultSecretName
	}
	o.CADuration = or(o.CADuration, DefaultCADuration)
	o.LeafDuration = or(o.LeafDuration, DefaultLeafDuration)
	o.RotationDelay = or(o.RotationDelay, DefaultRotationDelay)
	switch {
	case o.Namespace == "":
		return fmt.Errorf("the namespace of the CA's Secret is missing")
	case len(o.Hosts) == 0:
		return fmt.Errorf("the certificate needs at least one host name or IP address")
	case o.LeafDuration >= o.CADuration:
		return fmt.Errorf("the leaf's duration %s must be less than the CA's, %s", o.LeafDuration, o.CADuration)
	}
	return nil
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// splitHosts tells names from IP addresses.
func splitHosts(hosts []string) (names []string, ips []net.IP) {
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			ips = append(ips, ip)
		} else {
			names = append(names, host)
		}
	}
	return names, ips
}
