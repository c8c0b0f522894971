package auditlog

import (
	"slices"
	"time"
)

// Bounds of what a window holds: events, and bytes of their objects. A log has
// that many events of use in minutes, and its lines are out of order by
// milliseconds.
const (
	maxHeld      = 2048
	maxHeldBytes = 8 << 20
	// maxSpare bounds the buffer that is used again.
	maxSpare = 64 << 10
)

// window puts events of one file in the order of time. Those of the same time
// keep theirs.
type window struct {
	held  []*held
	bytes int
	spare []byte
}

// held is an event with what it points to.
type held struct {
	event Event
	// id is the same for copies of one event.
	id     uint64
	buffer []byte
}

// add holds a copy of the event.
func (w *window) add(e *Event, id uint64) {
	h := &held{event: *e, id: id, buffer: w.spare[:0]}
	w.spare = nil
	parts := []*[]byte{
		(*[]byte)(&h.event.User), (*[]byte)(&h.event.Request), (*[]byte)(&h.event.Response), (*[]byte)(&h.event.Annotations),
	}
	size := 0
	for _, part := range parts {
		size += len(*part)
	}
	h.buffer = slices.Grow(h.buffer, size)
	for _, part := range parts {
		if *part != nil {
			begin := len(h.buffer)
			h.buffer = append(h.buffer, *part...)
			*part = h.buffer[begin:len(h.buffer):len(h.buffer)]
		}
	}
	w.bytes += cap(h.buffer)
	w.held = slices.Insert(w.held, w.place(e.Time), h)
}

// place is where an event of that time belongs: mostly the end.
func (w *window) place(at time.Time) int {
	i := len(w.held)
	if i == 0 || !at.Before(w.held[i-1].event.Time) {
		return i
	}
	i, _ = slices.BinarySearchFunc(w.held, at, func(h *held, at time.Time) int {
		if h.event.Time.After(at) {
			return 1
		}
		return -1
	})
	return i
}

// full reports whether the first event has to leave before the next one comes.
func (w *window) full() bool { return len(w.held) >= maxHeld || w.bytes >= maxHeldBytes }

func (w *window) empty() bool { return len(w.held) == 0 }

// first is the earliest event.
func (w *window) first() *held { return w.held[0] }

// drop drops the earliest event.
func (w *window) drop() {
	h := w.held[0]
	w.held[0] = nil
	w.held = w.held[1:]
	w.bytes -= cap(h.buffer)
	if cap(h.buffer) <= maxSpare {
		w.spare = h.buffer
	}
}
