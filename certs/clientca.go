package certs

import (
	"context"
	"crypto/tls"
	"fmt"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// ClientCA demands a certificate of clients, signed by a CA in a file. The file
// is followed.
type ClientCA struct {
	content *dynamiccertificates.DynamicFileCAContent
}

var (
	_ manager.Runnable               = (*ClientCA)(nil)
	_ manager.LeaderElectionRunnable = (*ClientCA)(nil)
)

// NewClientCA reads the CAs in a file, in PEM.
func NewClientCA(path string) (*ClientCA, error) {
	content, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", path)
	if err != nil {
		return nil, fmt.Errorf("reading the CA of clients: %w", err)
	}
	return &ClientCA{content: content}, nil
}

// NeedLeaderElection is false: every replica serves.
func (*ClientCA) NeedLeaderElection() bool { return false }

// Start follows the file until ctx ends.
func (c *ClientCA) Start(ctx context.Context) error {
	c.content.Run(ctx, 1)
	return nil
}

// Configure has a server demand the certificate. To be called last: what is
// changed in the configuration later has no effect.
func (c *ClientCA) Configure(config *tls.Config) {
	config.ClientAuth = tls.RequireAndVerifyClientCert
	base := config.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		options, ok := c.content.VerifyOptions()
		if !ok {
			return nil, fmt.Errorf("there is no CA of clients in %s", c.content.Name())
		}
		current := base.Clone()
		current.ClientCAs = options.Roots
		return current, nil
	}
}
