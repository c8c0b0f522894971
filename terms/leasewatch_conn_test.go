package terms

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

// messages is a connection from which each Read takes one message of the next
// size.
type messages struct {
	net.Conn
	sizes []int
}

func (m *messages) Read(b []byte) (int, error) {
	if len(m.sizes) == 0 {
		return 0, io.EOF
	}
	n := min(m.sizes[0], len(b))
	m.sizes = m.sizes[1:]
	return n, nil
}

func TestGatheringConn(t *testing.T) {
	tests := []struct {
		name  string
		sizes []int
		waits int
	}{
		{"one message is read at once", []int{300}, 0},
		{"what trickles in is waited for", []int{300, 300, 300}, 2},
		{"a large list is not", []int{100_000, 100_000, 300}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &gatheringConn{Conn: &messages{sizes: tt.sizes}}
				buffer, start := make([]byte, 16<<10), time.Now()
				for range tt.sizes {
					if _, err := c.Read(buffer); err != nil {
						t.Fatal(err)
					}
				}
				if took := time.Since(start); took != time.Duration(tt.waits)*gathering {
					t.Errorf("took %v, want %d waits", took, tt.waits)
				}
			})
		})
	}
}

func TestGatherRenewalsKeepsTheDialer(t *testing.T) {
	dialed := ""
	config := &rest.Config{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		dialed = address
		return &messages{}, nil
	}}
	gathered := gatherRenewals(config)
	c, err := gathered.Dial(t.Context(), "tcp", "there")
	if _, ok := c.(*gatheringConn); !ok || err != nil || dialed != "there" {
		t.Errorf("dialed %q: %T, %v", dialed, c, err)
	}
	if !gathered.DisableCompression || config.DisableCompression {
		t.Error("the configuration given was changed, or the other was not")
	}
}
