package terms

import (
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// gathering is how long what arrives on the connection of the watch may wait
	// for more. It is how late a change of a Lease is noticed at most.
	gathering = 100 * time.Millisecond
	// trickle is the size of a read, in bytes, below which it is worth waiting.
	trickle = 4 << 10
)

// gatherRenewals has a connection of its own read what trickles in by batches.
// Each renewal is a message of a few hundred bytes, and to wake up for each of
// them costs many times what there is to do then.
func gatherRenewals(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &gatheringConn{Conn: c}, nil
	}
	// To unpack a message costs more than to read it.
	config.DisableCompression = true
	return config
}

// gatheringConn waits a while after a read of little, before it reads again. It
// has one reader, as in HTTP.
type gatheringConn struct {
	net.Conn
	wait bool
}

func (c *gatheringConn) Read(b []byte) (int, error) {
	if c.wait {
		time.Sleep(gathering)
	}
	n, err := c.Conn.Read(b)
	c.wait = err == nil && n < min(trickle, len(b))
	return n, err
}
