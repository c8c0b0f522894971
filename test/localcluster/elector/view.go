package elector

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const (
	// beat is how often a process notes that it runs.
	beat = 100 * time.Millisecond
	// standstill is how long it must not have run to count as one that stood still.
	standstill = time.Second
)

// view is whether an elector takes itself for the leader.
type view struct {
	identity string
	notify   func(Record)

	mu  sync.Mutex
	led bool
	// frozen says that the process has stood still as the leader, and not renewed
	// the Lease since: whether it leads still is yet to be seen.
	frozen bool
	closed bool
}

// leads is client-go's callback. It runs late if the end came first.
func (v *view) leads(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if ctx.Err() == nil && !v.closed {
		v.set(true, time.Now())
	}
}

// stops is client-go's callback, too.
func (v *view) stops() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frozen = false
	v.set(false, time.Now())
}

// renewed is for a write to the Lease that succeeded.
func (v *view) renewed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.frozen && !v.closed {
		v.frozen = false
		v.set(true, time.Now())
	}
}

// close has it lead no more, whatever is called after that.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.set(false, time.Now())
}

// watch notes when the process stands still, as SIGSTOP has it do, until ctx ends.
func (v *view) watch(ctx context.Context) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		if now.Sub(last) > standstill {
			v.stood(last)
		}
		last = now
	}
}

func (v *view) stood(since time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.led {
		v.frozen = true
		v.set(false, since)
	}
}

func (v *view) set(leads bool, at time.Time) {
	if v.led == leads {
		return
	}
	v.led = leads
	if v.notify != nil {
		v.notify(Record{Identity: v.identity, Leads: leads, At: at})
	}
}

// lock tells of what the elector writes: that it renews the Lease, and that it is
// about to release it, of which client-go tells only afterwards.
type lock struct {
	resourcelock.Interface
	view *view
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.view.stops()
	}
	err := l.Interface.Update(ctx, record)
	if err == nil && record.HolderIdentity != "" {
		l.view.renewed()
	}
	return err
}
