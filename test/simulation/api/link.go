package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Weather is how a Link fares. All chances are for one request.
type Weather struct {
	// Latency bounds each way of a request, Delay that of an event of a watch.
	Latency, Delay time.Duration
	// Down refuses all requests at once.
	Down bool
	// Lose loses requests before they arrive, Forget loses the answers to writes
	// that were applied, Late has writes arrive after the client gave up, Fail
	// answers with 500, Conflict refuses writes as if somebody had been faster.
	Lose, Forget, Late, Fail, Conflict float64
}

// Calm is how it usually is.
var Calm = Weather{Latency: 8 * time.Millisecond, Delay: 40 * time.Millisecond}

// lateBy bounds how long after the client gave up a late write arrives.
const lateBy = 20 * time.Second

// Link is how one client reaches the API server.
type Link struct {
	// Name is the client's own.
	Name string
	// User is who the API server authenticates.
	User authenticationv1.UserInfo
	// Timeout is the client's for one request.
	Timeout time.Duration

	server   *Server
	frontend *Frontend

	mu      sync.Mutex
	counts  map[string]uint64
	weather Weather
	dead    bool
	resumed chan struct{} // nil: not paused
	fuse    *fuse
}

// fuse ends a client at one of its writes.
type fuse struct {
	writes  int
	applied bool
	spared  string
	blown   func()
}

// Fuse has the client end at the n-th write from now on: before it arrives, or
// after it was applied. It calls blown then. Writes to the Lease of the name that
// is spared do not count.
func (l *Link) Fuse(n int, applied bool, spared string, blown func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fuse = &fuse{writes: n, applied: applied, spared: " lease " + spared, blown: blown}
}

// burn counts a write, and returns the fuse if it is the last one.
func (l *Link) burn(what string) *fuse {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fuse == nil || strings.HasSuffix(what, l.fuse.spared) {
		return nil
	}
	if l.fuse.writes--; l.fuse.writes > 0 {
		return nil
	}
	f := l.fuse
	l.fuse = nil
	return f
}

// Link makes one to a kube-apiserver.
func (f *Frontend) Link(name string, user authenticationv1.UserInfo, timeout time.Duration) *Link {
	return &Link{Name: name, User: user, Timeout: timeout, server: f.server, frontend: f,
		counts: map[string]uint64{}, weather: Calm}
}

// SetWeather says how the Link fares from now on.
func (l *Link) SetWeather(w Weather) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.weather = w
}

// Kill ends the client: it hears nothing more, and nothing more is heard of it.
func (l *Link) Kill() {
	l.mu.Lock()
	l.dead = true
	l.mu.Unlock()
	l.Resume()
	l.server.CutWatches(l)
}

// Pause stops the client, as SIGSTOP does, until Resume.
func (l *Link) Pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resumed == nil && !l.dead {
		l.resumed = make(chan struct{})
	}
}

// Resume ends a Pause.
func (l *Link) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resumed != nil {
		close(l.resumed)
		l.resumed = nil
	}
}

func (l *Link) next(name string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[name]++
	return l.counts[name]
}

func (l *Link) state() (weather Weather, dead bool, resumed chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.weather, l.dead, l.resumed
}

// awake waits while the client is paused.
func (l *Link) awake() error {
	for {
		_, dead, resumed := l.state()
		if dead {
			return errDead
		}
		if resumed == nil {
			return nil
		}
		<-resumed
	}
}

func (l *Link) watchDelay(name string, n uint64) time.Duration {
	weather, _, _ := l.state()
	return Skewed(Draw(l.server.seed, name, n), time.Millisecond, weather.Delay)
}

var errDead = errors.New("the client is dead")

// errTimeout is what a client makes of an answer that does not come.
func errTimeout(what string) error {
	return fmt.Errorf("%s: %w (Client.Timeout exceeded while awaiting headers)", what, context.DeadlineExceeded)
}

// do has a request served, or not, as the weather is.
func (l *Link) do(ctx context.Context, what string, write bool, serve func() error) error {
	if err := l.awake(); err != nil {
		return err
	}
	r := Draw(l.server.seed, l.Name+" "+what, l.next(what))
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Timeout)
		defer cancel()
	}
	err := l.try(ctx, what, write, r, serve)
	if paused := l.awake(); paused != nil {
		return paused
	}
	if err == nil && ctx.Err() != nil {
		return errTimeout(what)
	}
	return err
}

func (l *Link) try(ctx context.Context, what string, write bool, r *rand.Rand, serve func() error) error {
	weather, _, _ := l.state()
	out, back := Skewed(r, 50*time.Microsecond, weather.Latency), Skewed(r, 50*time.Microsecond, weather.Latency)
	chance := func(p float64) bool { return r.Float64() < p }
	lost, forgotten, late, failed, conflict := chance(weather.Lose), chance(weather.Forget), chance(weather.Late), chance(weather.Fail), chance(weather.Conflict)
	after := Between(r, 0, lateBy)
	if err := sleep(ctx, out); err != nil {
		return errTimeout(what)
	}
	switch {
	case weather.Down || l.frontend.isDown():
		return fmt.Errorf("%s: connect: connection refused", what)
	case failed:
		return apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	case conflict && write:
		return apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, what, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	if write {
		if f := l.burn(what); f != nil {
			if f.applied {
				_ = serve()
			}
			f.blown()
			return errDead
		}
	}
	switch {
	case lost:
		return giveUp(ctx, what)
	case late && write:
		go func() {
			time.Sleep(l.patience() + after)
			_ = serve()
		}()
		return giveUp(ctx, what)
	}
	err := serve()
	if forgotten && write {
		return giveUp(ctx, what)
	}
	if sleep(ctx, back) != nil {
		return errTimeout(what)
	}
	return err
}

// unanswered is how long a client without a timeout waits until its connection
// turns out to be dead.
const unanswered = 15 * time.Second

func (l *Link) patience() time.Duration {
	if l.Timeout > 0 {
		return l.Timeout
	}
	return unanswered
}

func giveUp(ctx context.Context, what string) error {
	_ = sleep(ctx, unanswered)
	return errTimeout(what)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
