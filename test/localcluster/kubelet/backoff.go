package kubelet

import "time"

// The real kubelet's figures for a container that keeps ending.
const (
	initialBackOff = 10 * time.Second
	maxBackOff     = 300 * time.Second
)

// backOff spaces out the restarts of one container: the first one at once, the
// next 10 s after the end, then 20 s, 40 s … up to 5 min. A container that ran
// for 10 min starts afresh.
type backOff struct {
	delay   time.Duration
	updated time.Time
}

// wait returns how long a restart still has to wait at now, for a container
// that ended at the given time.
func (b *backOff) wait(ended, now time.Time) time.Duration {
	if b.delay == 0 || ended.Sub(b.updated) > 2*maxBackOff {
		return 0
	}
	return max(0, ended.Add(b.delay).Sub(now))
}

// restarted notes a restart at now of a container that ended at the given time.
func (b *backOff) restarted(ended, now time.Time) {
	if b.delay == 0 || ended.Sub(b.updated) > 2*maxBackOff {
		b.delay = initialBackOff
	} else {
		b.delay = min(2*b.delay, maxBackOff)
	}
	b.updated = now
}
