package elector

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// view is whether an elector takes itself for the leader.
type view struct {
	identity string
	notify   func(Record)

	mu     sync.Mutex
	led    bool
	closed bool
}

// leads is client-go's callback. It runs late if the end came first.
func (v *view) leads(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if ctx.Err() == nil && !v.closed {
		v.set(true)
	}
}

func (v *view) stops() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set(false)
}

// close has it lead no more, whatever is called after that.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.set(false)
}

func (v *view) set(leads bool) {
	if v.led == leads {
		return
	}
	v.led = leads
	if v.notify != nil {
		v.notify(Record{Identity: v.identity, Leads: leads, At: time.Now()})
	}
}

// lock notes that the elector is about to release the Lease, of which client-go
// tells only afterwards.
type lock struct {
	resourcelock.Interface
	view *view
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.view.stops()
	}
	return l.Interface.Update(ctx, record)
}
