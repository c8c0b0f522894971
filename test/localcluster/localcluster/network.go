package localcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// The loopback addresses of the clusters on this machine: the n-th has
// 127.(128+n).0.0/16 for nodes and pods and 127.(192+n).0.0/16 for services.
const (
	firstPodNetwork     = 128
	firstServiceNetwork = 192
	maxClusters         = 63
	maxNodes            = 250
	// nodeOctet is the third number of the nodes' addresses; pods have the others.
	nodeOctet = 255
)

// network is one cluster's share of the loopback addresses.
type network struct {
	index int
	lock  *flock.Flock

	mu   sync.Mutex
	next int
}

// claimNetwork takes addresses that no other cluster on this machine has.
func claimNetwork() (*network, error) {
	// For all users: they share the addresses.
	dir := filepath.Join(os.TempDir(), "leasewarden-localcluster-networks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	_ = os.Chmod(dir, 0o777) // past the umask; it may be another user's
	for i := range maxClusters {
		path := filepath.Join(dir, fmt.Sprint(i))
		lock := flock.New(path, flock.SetPermissions(0o666), flock.SetFlag(os.O_CREATE|os.O_RDWR))
		locked, err := lock.TryLock()
		if err != nil && !errors.Is(err, os.ErrPermission) {
			return nil, err
		}
		if locked {
			return &network{index: i, lock: lock}, nil
		}
		_ = lock.Close()
	}
	return nil, fmt.Errorf("%d local clusters run on this machine already: stop one", maxClusters)
}

func (n *network) release() { _ = n.lock.Close() }

// nodeIP is the address of the i-th node, from 0.
func (n *network) nodeIP(i int) string {
	return fmt.Sprintf("127.%d.%d.%d", firstPodNetwork+n.index, nodeOctet, i+1)
}

// podIP returns the next address for a pod. They start over after 50,000 pods,
// when the first ones are long gone.
func (n *network) podIP() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.next
	n.next = (n.next + 1) % (250 * 200)
	return fmt.Sprintf("127.%d.%d.%d", firstPodNetwork+n.index, i/250, i%250+1)
}

// services is the range of the services' addresses.
func (n *network) services() string { return fmt.Sprintf("127.%d.0.0/16", firstServiceNetwork+n.index) }
