package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// note is something that was done or seen.
type note struct {
	at    time.Time
	about string
	text  string
}

func (n note) String() string {
	return fmt.Sprintf("%s  %-12s %s", n.at.UTC().Format("15:04:05.000"), n.about, n.text)
}

// journal is what was done and seen, for who wants to know how it came to a
// violation.
type journal struct {
	mu    sync.Mutex
	notes []note
}

func (j *journal) add(at time.Time, about, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, note{at, about, fmt.Sprintf(format, args...)})
}

// write writes the notes in the order of time.
func (j *journal) write(w io.Writer) error {
	for _, n := range j.sorted() {
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return nil
}

// around are the notes from one moment to another: of everything, or on one Lease
// and on what was done.
func (j *journal) around(from, to time.Time, lease string) []note {
	return slices.DeleteFunc(j.sorted(), func(n note) bool {
		return n.at.Before(from) || n.at.After(to) || lease != "" && n.about != lease && contestOf(n.about+"-") != nil
	})
}

func (j *journal) sorted() []note {
	j.mu.Lock()
	defer j.mu.Unlock()
	notes := slices.Clone(j.notes)
	slices.SortStableFunc(notes, func(a, b note) int { return a.at.Compare(b.at) })
	return notes
}
