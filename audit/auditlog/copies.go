package auditlog

import (
	"hash/maphash"
	"slices"
	"time"
)

// maxCopies bounds the events of one time that are told apart.
const maxCopies = 1024

// copies tells events that are in the log more than once. In the order of time,
// copies of an event come with those of the same time.
type copies struct {
	seed maphash.Seed
	at   time.Time
	ids  []uint64
}

func newCopies() copies { return copies{seed: maphash.MakeSeed()} }

// id is that of an event: its auditID or, where the log was stripped of those,
// the line.
func (c *copies) id(auditID, line []byte) uint64 {
	if len(auditID) > 0 {
		return maphash.Bytes(c.seed, auditID)
	}
	return maphash.Bytes(c.seed, line)
}

// has reports whether the event was there before, and remembers it.
func (c *copies) has(h *held) bool {
	if !h.event.Time.Equal(c.at) || len(c.ids) >= maxCopies {
		c.at, c.ids = h.event.Time, c.ids[:0]
	}
	if slices.Contains(c.ids, h.id) {
		return true
	}
	c.ids = append(c.ids, h.id)
	return false
}
