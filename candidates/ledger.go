package candidates

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/leasewarden/leasewarden/picker"
)

const (
	// maxLeases bounds how many Leases are remembered: those that were there, and
	// those that a candidate tried to make. The one that was not
	// looked at for longest is forgotten first, which makes a vacancy of it
	// seem younger than it is, and nothing else.
	maxLeases = 20_000
	// maxAttempts bounds how many candidates are remembered for each Lease. Only
	// identities that are recognised are, so that it is never reached by making
	// them up.
	maxAttempts = 2048
	// maxLateness is how late a look may arrive. A look at an older version of a
	// Lease than the last one counts after that: the version may have been a
	// made-up one.
	maxLateness = 10 * time.Second
	// maxDeletedTerm bounds what is left of the term of a Lease that was deleted:
	// to delete it is how people get rid of a holder who wrote an absurd
	// duration.
	maxDeletedTerm = 5 * time.Minute
)

// ledger remembers, in memory and by our own clock, what was seen of Leases
// and of the attempts to acquire them. It is safe for concurrent use.
type ledger struct {
	mu     sync.Mutex
	leases *lru.Cache // types.NamespacedName to *contest
	// fresh counts, by namespace, the registrations that have no object yet.
	fresh map[string]int
}

func newLedger() *ledger {
	l := &ledger{fresh: map[string]int{}}
	l.leases = lru.NewWithEvictionFunc(maxLeases, l.evicted)
	return l
}

// contest is what is remembered of one Lease.
type contest struct {
	// record is the Lease as last seen, first at firstSeen. witnessed says that
	// we saw it change to that.
	record    record
	firstSeen time.Time
	witnessed bool
	// looked is when we last looked.
	looked time.Time
	// lastHolder and duration are those of the last record with a holder.
	lastHolder string
	duration   time.Duration
	// since is when the first candidate tried in the present vacancy, last
	// when the last one did.
	since, last time.Time
	attempts    *lru.Cache // candidate name to attempt
	// registrations are unregistered identities, by candidate name.
	registrations map[string]registration
	// deleted is the term that was cut off by deleting the Lease.
	deleted term
}

// attempt is when a candidate last tried, as whom, and from which Pod, if the
// token proved that. The ledger counts how many there were in one vacancy.
type attempt struct {
	at       time.Time
	identity string
	pod      types.UID
	count    int
}

// term is what is left of a term.
type term struct {
	holder string
	ends   time.Time
}

// memory is a snapshot of a contest. The zero memory remembers nothing.
type memory struct {
	record        record
	firstSeen     time.Time
	witnessed     bool
	lastHolder    string
	duration      time.Duration
	since         time.Time
	term          term
	attempts      *lru.Cache
	registrations []registration
}

// attempt returns how the candidate of that name last tried.
func (m *memory) attempt(candidate string) (attempt, bool) {
	if m.attempts == nil {
		return attempt{}, false
	}
	a, ok := m.attempts.Get(candidate)
	if !ok {
		return attempt{}, false
	}
	last := a.(attempt)
	if m.since.IsZero() || last.at.Before(m.since) {
		last.count = 0 // of an earlier vacancy
	}
	return last, true
}

// observe notes what the Lease says now (nil: it does not exist), and returns
// what is remembered of it. Without keep, nothing is noted.
func (l *ledger) observe(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time, keep bool) memory {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contest(key, keep)
	if !keep {
		c = c.clone()
	}
	c.observe(recordOf(lease), now)
	return l.snapshot(key, c, now)
}

// asked notes the look at the Lease that a request brings, and returns what is
// remembered of it. A request to create the Lease is no proof that there is
// none: the API server only finds out afterwards. If there was one, what is left
// of its term still counts. A Lease that nothing is known of is not remembered
// for it: its name may be made up.
func (l *ledger) asked(key types.NamespacedName, old *coordinationv1.Lease, now time.Time, keep bool) memory {
	if old != nil {
		return l.observe(key, old, now, keep)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contest(key, false)
	if !keep {
		c = c.clone()
	}
	if c.firstSeen.IsZero() {
		c.observe(record{}, now)
	}
	return l.snapshot(key, c, now)
}

// contest returns what is remembered of the Lease. Without keep, a new one is
// not remembered.
func (l *ledger) contest(key types.NamespacedName, keep bool) *contest {
	if c, ok := l.leases.Get(key); ok {
		return c.(*contest)
	}
	c := &contest{attempts: lru.New(maxAttempts), registrations: map[string]registration{}}
	if keep {
		l.leases.Add(key, c)
	}
	return c
}

func (c *contest) clone() *contest {
	copied := *c
	return &copied
}

// observe takes up a record. A record that changed ends the vacancy that the
// last one was in. A look that is older than the last one is of no use: a
// request may arrive late.
func (c *contest) observe(r record, now time.Time) {
	if r.before(c.record) && now.Sub(c.looked) < maxLateness {
		return
	}
	c.looked = now
	if !c.firstSeen.IsZero() && c.record.same(r) {
		c.record.version = r.version
		return
	}
	c.witnessed = !c.firstSeen.IsZero()
	c.record, c.firstSeen = r, now
	c.since, c.last = time.Time{}, time.Time{}
	if r.exists {
		c.deleted = term{}
	}
	if r.holder != "" {
		c.lastHolder, c.duration = r.holder, r.duration
	}
}

func (l *ledger) snapshot(key types.NamespacedName, c *contest, now time.Time) memory {
	l.expire(key, c, now)
	m := memory{
		record: c.record, firstSeen: c.firstSeen, witnessed: c.witnessed,
		lastHolder: c.lastHolder, duration: c.duration,
		since: c.since, attempts: c.attempts, term: c.term(now),
	}
	for _, r := range c.registrations {
		m.registrations = append(m.registrations, r)
	}
	return m
}

// term is the one that has certainly not run out. Zero: there is none.
func (c *contest) term(now time.Time) term {
	t := c.deleted
	if c.record.exists {
		t = term{holder: c.record.holder, ends: c.record.ends(c.firstSeen)}
	}
	if !t.ends.After(now) {
		return term{}
	}
	return t
}

// attempted notes that a candidate tried to acquire the Lease, and returns
// since when its vacancy is contested (zero: it is not vacant), and how often
// the candidate has tried in it.
func (l *ledger) attempted(key types.NamespacedName, candidate string, a attempt, duration time.Duration, keep bool) (since time.Time, tries int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contest(key, keep)
	if !keep {
		c = c.clone()
	}
	if c.firstSeen.IsZero() {
		c.observe(record{}, a.at)
	}
	if c.term(a.at).ends.IsZero() {
		c.contested(a.at, duration)
		a.count = c.tries(candidate) + 1
	}
	if keep {
		c.attempts.Add(candidate, a)
	}
	return c.since, a.count
}

// tries is how often the candidate has tried in the present vacancy.
func (c *contest) tries(candidate string) int {
	last, ok := c.attempts.Get(candidate)
	if !ok || c.since.IsZero() || last.(attempt).at.Before(c.since) {
		return 0
	}
	return last.(attempt).count
}

// contested notes an attempt in a vacancy. Every elector tries more than once
// within its own lease duration, so after two of them without any attempt the
// vacancy is another one than before: the Lease may have been created and
// deleted in between, which leaves no trace in its record.
func (c *contest) contested(now time.Time, duration time.Duration) {
	gap := 2 * max(duration, c.duration, picker.DefaultAcquireDeadline)
	if c.since.IsZero() || now.Sub(c.last) > gap {
		c.since = now
	}
	c.last = now
	if c.duration == 0 {
		c.duration = claimedDuration(duration)
	}
}

// claimedDuration is what a duration counts for that nobody has held a Lease with
// as far as we know. Whoever writes a short one must not so have others passed
// over.
func claimedDuration(d time.Duration) time.Duration { return max(d, picker.DefaultAcquireDeadline) }

// deleted notes that the Lease was deleted while it looked like lease, so that
// what is left of the term still counts.
func (l *ledger) deleted(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contest(key, true)
	c.observe(recordOf(lease), now)
	left := c.term(now)
	if latest := now.Add(maxDeletedTerm); left.ends.After(latest) {
		left.ends = latest
	}
	c.observe(record{}, now)
	c.deleted = left
}

// forget drops what is remembered of a Lease.
func (l *ledger) forget(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leases.Remove(key)
}
