package certificates

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const leaseName = "lease"

// pause is between two attempts.
const pause = 20 * time.Millisecond

// ruled is in the refusal of an attempt on which Leasewarden has ruled: of
// somebody who is no candidate.
const ruled = "denied the request: lease default/" + leaseName

// attempt has somebody acquire the Lease, as a dry run. Nil means that
// Leasewarden has ruled on it.
func (s *site) attempt(ctx context.Context) error {
	_, err := s.kube.CoordinationV1().Leases("default").Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("somebody"), LeaseDurationSeconds: ptr.To[int32](15)},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil:
		return fmt.Errorf("the attempt was admitted, nobody has ruled on it")
	case strings.Contains(err.Error(), ruled):
		return nil
	}
	return err
}

// attempts goes on attempting, and remembers what failed.
type attempts struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	rulings  int
	failures []string
}

// attemptForever starts attempts through the API server and, if it is not nil,
// checks each of which makes a connection of its own.
func (s *site) attemptForever(check func(context.Context) error) *attempts {
	s.t.Helper()
	NewWithT(s.t).Eventually(func() error { return s.attempt(s.t.Context()) }, soon, often).Should(Succeed())
	ctx, cancel := context.WithCancel(s.t.Context())
	a := &attempts{cancel: cancel}
	a.repeat(ctx, "the API server", s.attempt)
	if check != nil {
		a.repeat(ctx, "a new connection", check)
	}
	s.t.Cleanup(func() { a.stop() })
	return a
}

func (a *attempts) repeat(ctx context.Context, name string, do func(context.Context) error) {
	a.done.Go(func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				a.note(name, do(ctx), ctx.Err() != nil)
			}
		}
	})
}

func (a *attempts) note(name string, err error, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case ended:
	case err != nil:
		a.failures = append(a.failures, fmt.Sprintf("%s %s: %v", time.Now().Format(time.TimeOnly), name, err))
	default:
		a.rulings++
	}
}

// stop ends the attempts and returns how many were ruled on, and what failed.
func (a *attempts) stop() (rulings int, failures []string) {
	a.cancel()
	a.done.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rulings, a.failures
}
