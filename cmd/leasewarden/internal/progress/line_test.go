package progress

import (
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// Off a terminal, a line comes when it is new, or after a while.
func TestLineInAFile(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	var out strings.Builder
	l := New(&out, clock)
	for range 25 {
		l.Show("waiting for a")
		clock.SetTime(clock.Now().Add(500 * time.Millisecond))
	}
	l.Show("waiting for b\x1b[2J")
	l.Done()
	l.Done()
	if want := "  0s  waiting for a\n 10s  waiting for a\n 12s  waiting for b?[2J\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// On a terminal, a line takes the place of the one before, and is gone in the
// end.
func TestLineOnATerminal(t *testing.T) {
	var out strings.Builder
	l := &Line{out: &out, clock: clocktesting.NewFakePassiveClock(time.Unix(75, 0)), started: time.Unix(0, 0), width: 20}
	l.Show("waiting for somebody")
	l.Done()
	l.Done()
	if want := "\r\x1b[K1m15s  waiting for…\r\x1b[K"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
