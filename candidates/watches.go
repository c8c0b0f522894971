package candidates

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// watchBackoff is how long a watch that failed waits before it is tried again:
// short enough that a CustomResourceDefinition, or a permission, that is
// granted late is noticed within seconds.
var watchBackoff = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 8, Cap: 10 * time.Second}

// complainEvery is how often a watch that keeps failing is logged.
const complainEvery = 5 * time.Minute

// watched is one running watch.
type watched struct {
	// what names the objects in messages: "Pods of namespace a, app=b".
	what   string
	filled func() bool
	stop   context.CancelFunc
	// optional says that decisions can be made without these objects.
	optional bool
	// base says that every decision needs them.
	base bool

	failed     error
	complained time.Time
}

// follow starts a watch, which ends with Start at the latest. It must be
// called with the lock held. expected is an object of the kind.
func follow[T comparable](c *Cache, w *watched, lw *listerWatcher, expected any, m *mirror[T]) {
	// The Reflector's own logger would repeat what complain logs now and then.
	ctx, cancel := context.WithCancel(klog.NewContext(c.ctx, logr.Discard()))
	w.filled = func() bool { return m.filled }
	w.stop = cancel
	lw.failed = func(err error) { c.complain(w, err) }
	backoff, quiet := c.backoff, logr.Discard()
	r := cache.NewReflectorWithOptions(lw, expected, m, cache.ReflectorOptions{Name: w.what, Logger: &quiet, Backoff: &backoff})
	c.watches[w] = struct{}{}
	c.running.Go(func() { r.RunWithContext(ctx) })
}

// unwatch ends a watch. It must be called with the lock held.
func (c *Cache) unwatch(w *watched) {
	w.stop()
	delete(c.watches, w)
}

// complain notes why a watch failed, and logs it now and then: it is tried
// again every few seconds, maybe for days.
func (c *Cache) complain(w *watched, err error) {
	c.mu.Lock()
	w.failed = err
	now := c.clock.Now()
	due := w.complained.IsZero() || now.Sub(w.complained) >= complainEvery
	if due {
		w.complained = now
	}
	c.mu.Unlock()
	if due {
		c.logger.Info("Watch failed, trying again", "watch", w.what, "err", err.Error())
	}
}

// unfilled are the required watches whose first list has not arrived, by name.
func (c *Cache) unfilled() []string {
	var missing []string
	for w := range c.watches {
		if w.optional || w.filled() {
			continue
		}
		name := w.what
		if w.failed != nil {
			name += " (" + w.failed.Error() + ")"
		}
		missing = append(missing, name)
	}
	slices.Sort(missing)
	return missing
}

// describeScope names the objects of a scope in messages.
func describeScope(kind string, s scope) string {
	parts := []string{kind, "with labels", s.selector}
	if s.namespace != "" {
		parts = append(parts, "in namespace", s.namespace)
	}
	return strings.Join(parts, " ")
}
