package simulation

import (
	"fmt"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// watchdog looks whether what must hold does.
type watchdog struct {
	w *world

	mu         sync.Mutex
	violations []string
	leases     map[string]*leaseWatch
	// disturbed is until when anybody may be held up.
	disturbed time.Time
}

// leaseWatch is what is known of one component's Lease.
type leaseWatch struct {
	component *component
	lease     *coordinationv1.Lease
	// electors are those that may believe that they lead.
	electors map[*elector]struct{}
	// led is when somebody last led, or the Lease was last given somebody.
	led time.Time
	// written is when the Lease was last written by its holder.
	written time.Time
	// excused is until when there may be two leaders, by nobody's fault of ours.
	excused time.Time
	// fit is since when each Pod could have led.
	fit map[*pod]time.Time
	// groundless is since when an order to step down has no reason.
	groundless time.Time
	reported   map[string]bool
	// told is what each elector was last denied for.
	told    map[string]string
	history []string
	denials int
	terms   int
}

func newWatchdog(w *world) *watchdog {
	d := &watchdog{w: w, leases: map[string]*leaseWatch{}, disturbed: w.trace.start.Add(lateAfter)}
	for _, c := range w.components {
		d.leases[c.name] = &leaseWatch{component: c, electors: map[*elector]struct{}{}, led: w.trace.start, fit: map[*pod]time.Time{}, reported: map[string]bool{}, told: map[string]string{}}
	}
	return d
}

// violate notes that something does not hold, once for each kind and Lease.
func (d *watchdog) violate(l *leaseWatch, kind, format string, args ...any) {
	if l.reported[kind] {
		return
	}
	l.reported[kind] = true
	v := fmt.Sprintf("%s: %s: %s", l.component.name, kind, fmt.Sprintf(format, args...))
	d.violations = append(d.violations, v)
	d.w.trace.add("VIOLATION %s", v)
}

func (d *watchdog) disturb(lasts time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if end := time.Now().Add(lasts); end.After(d.disturbed) {
		d.disturbed = end
	}
}

// deleteLease notes that a Lease is deleted under its holder: client-go alone
// then has two leaders for as long as one does not notice.
func (d *watchdog) deleteLease(c *component) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leases[c.name].excuse()
	d.leases[c.name].led = time.Now()
}

// excuse has two leaders be nobody's fault of ours, for as long as one of them
// may not notice.
func (l *leaseWatch) excuse() {
	t := l.component.timing
	l.excused = time.Now().Add(t.renew + t.retry + t.lease)
}

// believes is told whenever an elector begins or ends to believe that it leads.
func (d *watchdog) believes(e *elector, leads bool) {
	verb := "stops leading"
	if leads {
		verb = "leads"
	}
	d.w.trace.add("%s %s", e.identity, verb)
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.leases[e.lease]
	l.led = time.Now()
	if !leads {
		delete(l.electors, e)
		return
	}
	l.electors[e] = struct{}{}
	l.terms++
	d.single(l)
}

// single checks that not two lead.
func (d *watchdog) single(l *leaseWatch) {
	now := time.Now()
	leaders := 0
	for e := range l.electors {
		if e.believes(now) {
			leaders++
			l.led = now
		}
	}
	if leaders > 1 && now.After(l.excused) {
		d.violate(l, "two leaders", "%d electors lead", leaders)
	}
}

func (d *watchdog) denied(e *elector, err error) {
	_, why, _ := strings.Cut(err.Error(), "denied the request: ")
	d.mu.Lock()
	l := d.leases[e.lease]
	l.denials++
	told := l.told[e.identity] == why
	l.told[e.identity] = why
	d.mu.Unlock()
	if !told {
		d.w.trace.add("%s is denied: %s", e.identity, why)
	}
}

// committed is told of every write. client-go's release goes by what the elector
// last believed and not by what the Lease says, so that one that was stopped for
// long, and is then told to end, releases the Lease of another one.
func (d *watchdog) committed(c api.Commit) {
	if c.Resource == api.Validating || c.Resource == api.Mutating {
		d.w.reconcile()
	}
	if c.Resource != api.Leases {
		return
	}
	o := c.New
	if o == nil {
		o = c.Old
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.leases[o.Name]
	if l == nil || o.Namespace != namespace {
		return
	}
	var old, now *coordinationv1.Lease
	if c.Old != nil {
		old = c.Old.Lease
	}
	if c.New != nil {
		now = c.New.Lease
		l.lease = now
	} else {
		l.lease = nil
	}
	l.written = time.Now()
	l.history = append(l.history, describe(now))
	before, after := api.Holder(old), api.Holder(now)
	if before != "" && after == "" && c.By != before && c.By != "" && !strings.HasPrefix(c.By, "leasewarden-") {
		d.w.trace.add("lease %s: %s releases it for %s", o.Name, c.By, before)
		l.excuse()
	}
	if byHand(c.By) {
		l.excuse() // client-go alone does not mind what a Lease says, until it writes
		l.led = l.written
	}
	if after != "" && before != after && l.written.After(d.disturbed) {
		d.stamped(l, now)
	}
	if before != after {
		l.led = l.written
		d.w.trace.add("lease %s: %q -> %q", o.Name, before, after)
	}
	if before, after := order(old), order(now); before != after {
		d.w.trace.add("lease %s: order to step down %q -> %q", o.Name, before, after)
	}
}

// stamped checks that an acquire was ruled on, while nothing keeps it from that.
func (d *watchdog) stamped(l *leaseWatch, lease *coordinationv1.Lease) {
	o := d.w.options
	if l.component.policy.Load() == nil || l.component.coordinated || o.Without || o.DryRun || lease.Annotations[v1alpha1.ElectedAnnotation] == api.Holder(lease) {
		return
	}
	d.violate(l, "not ruled on", "%s acquired the Lease as if there were no policy", api.Holder(lease))
}

// tick is how often it looks, beside whenever something is written.
const tick = 500*time.Millisecond + 7*time.Microsecond

func (d *watchdog) watch() {
	for sleep(d.w.ctx, tick) {
		for _, c := range d.w.components {
			d.look(c)
		}
	}
}

func (d *watchdog) look(c *component) {
	pods := d.w.podsOf(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.leases[c.name]
	d.single(l)
	d.vacant(l, pods)
	d.groundless(l)
}
