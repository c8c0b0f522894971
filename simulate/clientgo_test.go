package simulate

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// record is a Lease in memory, for client-go's own electors.
type record struct {
	mu  sync.Mutex
	raw []byte
}

// lock is one elector's view of it.
type lock struct {
	*record
	identity string
}

func (l lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.raw == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "app")
	}
	var r resourcelock.LeaderElectionRecord
	return &r, l.raw, json.Unmarshal(l.raw, &r)
}

func (l lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, r)
}

func (l lock) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	raw, err := json.Marshal(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.raw = raw
	return err
}

func (l lock) RecordEvent(string) {}
func (l lock) Identity() string   { return l.identity }
func (l lock) Describe() string   { return "app" }

// crashOfClientGo is how long nobody leads after a crash at that moment, with
// client-go's own electors in virtual time.
func crashOfClientGo(t *testing.T, at time.Duration) (gap time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		shared := &record{}
		leads := make(chan string, 10)
		cancels := map[string]context.CancelFunc{}
		var running sync.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
			cancels[name] = cancel
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: lock{shared, name}, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { leads <- name },
					OnStoppedLeading: func() {},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() { elector.Run(ctx) })
			time.Sleep(time.Second) // virtual
		}
		first := <-leads
		time.Sleep(at)
		cancels[first]()
		crashed := time.Now()
		<-leads
		gap = time.Since(crashed)
		for _, cancel := range cancels {
			cancel()
		}
		running.Wait()
	})
	return gap
}

// TestElectorsDoAsThoseOfClientGo compares how long nobody leads after a crash:
// that depends on the renewals of the one and on the retries of the others.
func TestElectorsDoAsThoseOfClientGo(t *testing.T) {
	const crashes = 60
	random := rand.New(rand.NewPCG(1, 2))
	var theirs, ours time.Duration
	s := scenario(t, "")
	s.Steps = []Step{{Crash: &Outage{Replica: Leader}}}
	for seed := range crashes {
		at := 30*time.Second + time.Duration(random.Float64()*float64(10*time.Second))
		theirs += crashOfClientGo(t, at)
		s.Steps[0].At.Duration = at
		r := newRun(s, uint64(seed), nil)
		if err := r.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		ours += r.measured.Vacant
	}
	theirMean, ourMean := theirs/crashes, ours/crashes
	t.Logf("client-go %v, simulated %v", theirMean, ourMean)
	if diff := (theirMean - ourMean).Abs(); diff > 700*time.Millisecond {
		t.Errorf("after a crash nobody leads for %v with client-go, %v simulated", theirMean, ourMean)
	}
}
