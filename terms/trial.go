package terms

import "time"

// fairTrial is how long a replacement must have been the chosen one, for it to
// count as hung if another takes the Lease: nobody is passed over sooner, and
// who was chosen just before may have had the Lease by the choice before.
const fairTrial = time.Second

// trial remembers whether those that holders had to make way for took the Lease:
// one that hangs would else have one holder after the other step down for
// nothing. The zero value remembers nothing.
type trial struct {
	// from is the holder identity that has to make way for the candidate to.
	// Empty: nobody has.
	from, to string
	// since is from when on that is the candidate.
	since time.Time
	// failed is the candidate that last did not take the Lease, failures how
	// often in a row.
	failed   string
	failures int
}

// begin notes that a holder has to make way.
func (t *trial) begin(from, to string, now time.Time) { t.from, t.to, t.since = from, to, now }

// end notes that it has not any more.
func (t *trial) end() { t.from, t.to = "", "" }

// choose takes up that another candidate was chosen while the holder still leads.
func (t *trial) choose(identity, chosen string, now time.Time) {
	if t.from != "" && t.from == identity && t.to != chosen {
		t.to, t.since = chosen, now
	}
}

// look takes up who holds the Lease now: the identity, "" for nobody, and the
// candidate, "" if it is none. It reports whether that is another one than the
// replacement, although that was the chosen one for long enough, and still is.
func (t *trial) look(identity, holder, chosen string, now time.Time) (failed bool) {
	switch {
	case t.from == "" || identity == "" || identity == t.from:
		return false
	case holder == t.to:
		t.failed, t.failures = "", 0
	case chosen != t.to || now.Sub(t.since) < fairTrial:
	case t.failed == t.to:
		t.failures, failed = t.failures+1, true
	default:
		t.failed, t.failures, failed = t.to, 1, true
	}
	t.end()
	return failed
}

// pause is how long that candidate is not tried again after it has failed.
func (t *trial) pause(candidate string) time.Duration {
	if t.failures == 0 || candidate != t.failed {
		return 0
	}
	return pauseAfter(t.failures)
}
