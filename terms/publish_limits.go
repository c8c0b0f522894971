package terms

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// flapBurst and flapInterval bound the writes to one Election: so many at
	// once, and then one in each interval. A candidate that comes and goes all
	// the time is published as it is then, not each time.
	flapBurst    = 5
	flapInterval = 2 * time.Second
)

// writeLimits bounds the writes to all Elections together. Several goroutines
// may use it.
type writeLimits struct{ all *rate.Limiter }

func newWriteLimits(perSecond float64) writeLimits {
	return writeLimits{all: rate.NewLimiter(rate.Limit(perSecond), max(1, int(2*perSecond)))}
}

// slot is when one Election may be written. Its owner keeps a slot that it was
// given until it comes, so that thousands that wait do not ask again and again.
type slot struct {
	own *rate.Limiter
	at  time.Time
}

func newSlot() slot { return slot{own: rate.NewLimiter(rate.Every(flapInterval), flapBurst)} }

// wait returns how long to wait before the write. 0: the slot has come, and the
// next write needs another one.
func (s *slot) wait(limits writeLimits, now time.Time) time.Duration {
	if s.at.IsZero() {
		s.at = now.Add(max(
			s.own.ReserveN(now, 1).DelayFrom(now),
			limits.all.ReserveN(now, 1).DelayFrom(now)))
	}
	if left := s.at.Sub(now); left > 0 {
		return left
	}
	s.at = time.Time{}
	return 0
}
