package simulation

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// trace is what happened, readable, by virtual time.
type trace struct {
	start time.Time
	mu    sync.Mutex
	lines []string
}

func (t *trace) add(format string, args ...any) {
	at := time.Since(t.start)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf("%12.6f  ", at.Seconds())+fmt.Sprintf(format, args...))
}

// String is the trace, a line for each thing that happened.
func (t *trace) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
