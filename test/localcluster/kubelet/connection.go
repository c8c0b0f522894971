package kubelet

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// connection is the kubelet's line to the API server, which can be cut.
type connection struct {
	cut    atomic.Bool
	dialer *connrotation.Dialer
}

var errCut = errors.New("the node is cut off from the API server")

// newConnection returns a config whose connections are all in the connection's hands.
func newConnection(config *rest.Config) (*connection, *rest.Config) {
	c := &connection{}
	dial := (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	c.dialer = connrotation.NewDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		if c.cut.Load() {
			return nil, errCut
		}
		return dial(ctx, network, address)
	})
	config = rest.CopyConfig(config)
	config.Dial = c.dialer.DialContext
	return c, config
}

func (c *connection) close() {
	c.cut.Store(true)
	c.dialer.CloseAll()
}

func (c *connection) reopen() { c.cut.Store(false) }
