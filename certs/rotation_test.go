package certs

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"math/big"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/cert-manager/cert-manager/pkg/server/tls/authority"
)

// rotatingCluster has a CA that is replaced again and again, and an API server
// that gets to know what is published.
type rotatingCluster struct {
	randomMu sync.Mutex
	random   *mathrand.Rand

	mu        sync.Mutex
	key       *ecdsa.PrivateKey
	ca        *x509.Certificate
	published []byte
	// trusted is what the API server knows of what is published.
	trusted []byte
}

// soon is a delay of a watch.
func (c *rotatingCluster) soon() time.Duration {
	c.randomMu.Lock()
	defer c.randomMu.Unlock()
	return time.Duration(c.random.Int64N(int64(3 * time.Second)))
}

// around is a number of seconds around 0.
func (c *rotatingCluster) around(n int) int {
	c.randomMu.Lock()
	defer c.randomMu.Unlock()
	return c.random.IntN(2*n) - n
}

func (c *rotatingCluster) load(context.Context) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ca == nil {
		return nil, errors.New("not found")
	}
	return encodeCertificates([]*x509.Certificate{c.ca}), nil
}

// publish has the leader bring the configuration in step.
func (c *rotatingCluster) publish(leader *SelfManaged) {
	c.mu.Lock()
	defer c.mu.Unlock()
	bundle, _, err := leader.Bundle(c.published)
	if err != nil {
		return // it has not read the CA yet
	}
	c.published = bundle
	time.AfterFunc(c.soon(), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.trusted = bundle
	})
}

// replicaAuthority is one replica's view of the CA. It lags behind.
type replicaAuthority struct {
	fakeAuthority
	cluster *rotatingCluster
	leaf    time.Duration
}

func (a *replicaAuthority) see(key *ecdsa.PrivateKey, ca *x509.Certificate) {
	a.mu.Lock()
	a.key, a.ca = key, ca
	a.mu.Unlock()
	a.notify()
}

func (a *replicaAuthority) Sign(template *x509.Certificate) (*x509.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ca == nil {
		return nil, authority.ErrCertificateNotAvailable
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now(), time.Now().Add(a.leaf)
	der, err := x509.CreateCertificate(rand.Reader, template, a.ca, template.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// Leaves are renewed and CAs replaced, at times that coincide now and then,
// while watches lag behind and the leader changes: the API server can call every
// replica at every moment.
func TestNoCallFailsWhileCertificatesRotate(t *testing.T) {
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) { rotate(t, seed) })
	}
}

func rotate(t *testing.T, seed uint64) {
	cluster := &rotatingCluster{random: mathrand.New(mathrand.NewPCG(seed, 0))}
	var authorities []*replicaAuthority
	var replicas []*SelfManaged
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for range 3 {
		a := &replicaAuthority{cluster: cluster, leaf: time.Hour}
		o := Options{Namespace: "leasewarden-system", Hosts: []string{filesHost}}
		if err := o.complete(); err != nil {
			t.Fatal(err)
		}
		m := newSelfManaged(o, a, cluster.load, clock.RealClock{})
		authorities, replicas = append(authorities, a), append(replicas, m)
		running.Go(func() { _ = m.Start(ctx) })
	}
	replace := func() {
		key, ca := newCA(t, time.Now(), 24*time.Hour)
		cluster.mu.Lock()
		cluster.key, cluster.ca = key, ca
		cluster.mu.Unlock()
		for _, a := range authorities {
			time.AfterFunc(cluster.soon(), func() { a.see(key, ca) })
		}
	}
	replace()
	<-time.After(10 * time.Second)
	cluster.publish(replicas[0])
	<-time.After(5 * time.Second)

	api := &caller{known: map[string]bool{}}
	leaves := map[string]bool{}
	// A leaf is due 40 minutes after the one before it. The first ones are there
	// already, and the next of a new CA come a minute after that.
	next := 40*60 - 15 + cluster.around(10)
	for second := range 6 * 60 * 60 {
		<-time.After(time.Second)
		if second == next {
			replace()
			next += 81*60 + cluster.around(10)
		}
		leader := replicas[second/(90*60)%len(replicas)]
		select {
		case <-leader.Changed():
			time.AfterFunc(cluster.soon(), func() { cluster.publish(leader) })
		default:
			if second%600 == 0 {
				cluster.publish(leader) // resync, and recheck
			}
		}
		cluster.mu.Lock()
		trusted := cluster.trusted
		cluster.mu.Unlock()
		for i, m := range replicas {
			leaf, err := m.leaf()
			if err != nil {
				t.Fatal(err)
			}
			leaves[string(leaf.Raw)] = true
			if err := api.call(leaf, trusted); err != nil {
				t.Fatalf("seed %d: replica %d after %ds: %v", seed, i, second, err)
			}
		}
	}
	if len(leaves) < 3*8 {
		t.Errorf("there were only %d leaves, too few for a test", len(leaves))
	}
}

// caller verifies as the API server does, each pair of a leaf and a bundle once.
type caller struct {
	known map[string]bool
}

func (c *caller) call(leaf *x509.Certificate, bundle []byte) error {
	now := time.Now()
	key := string(leaf.Raw) + string(bundle)
	if c.known[key] && now.Before(leaf.NotAfter) {
		return nil
	}
	c.known[key] = true
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: filesHost})
	return err
}
