package auditlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

// Options say what to read.
type Options struct {
	// Paths are the files, or "-" for standard input, in any order.
	Paths []string
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Resources are the plural names of the resources whose events are wanted.
	// Lines that do not have one of these words are skipped unread.
	Resources []string
	// Wants says whether events about an object are wanted. Default: all of
	// those resources.
	Wants func(Ref) bool
}

// Log is an audit log that is being read. It is not safe for concurrent use,
// but for Read.
type Log struct {
	ctx     context.Context
	needles [][]byte
	decoder *decoder
	// event is decoded into, from at.
	event    Event
	at       Origin
	findings findings
	stats    Stats
	total    int64
	read     atomic.Int64
	// waiting are sources that begin later than what is in hand, the next one
	// first. running are the others.
	waiting []*source
	running []*stream
	// last is the stream whose event was returned last, at the time reached.
	last    *stream
	reached time.Time
	copies  copies
}

// Stats are what was read.
type Stats struct {
	// Lines are all lines, Events those that were wanted.
	Lines, Events int64
	// Audit counts lines that looked like audit events at all.
	Audit int64
}

// Open looks at the files. Several of them are merged in the order of time:
// rotated files one after the other, those of several API servers side by
// side. The error names a file that cannot be read, or is given twice.
// Reading ends with ctx.
func Open(ctx context.Context, o Options) (*Log, error) {
	l := &Log{ctx: ctx, copies: newCopies()}
	for _, r := range o.Resources {
		// What comes before the name is left out: its first letter is rarer than
		// a quotation mark, which makes the search faster.
		l.needles = append(l.needles, []byte(r+`"`))
	}
	wants := func(r Ref) bool {
		return slices.Contains(o.Resources, r.Resource) && (o.Wants == nil || o.Wants(r))
	}
	l.decoder = newDecoder(wants)
	var errs []error
	for _, path := range o.Paths {
		s, size, err := newSource(ctx, path, o.Stdin)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if i := slices.IndexFunc(l.waiting, s.same); i >= 0 {
			errs = append(errs, fmt.Errorf("%s is the same file as %s: give each file once", s.name(), l.waiting[i].name()))
			continue
		}
		l.total += size
		l.waiting = append(l.waiting, s)
	}
	slices.SortStableFunc(l.waiting, func(a, b *source) int { return a.first.Compare(b.first) })
	return l, errors.Join(errs...)
}

// Next returns the next event, or io.EOF. Any other error is that of the context
// or of a file that could not be opened. No event is earlier than the one before
// it. The event is valid until the next call.
func (l *Log) Next() (*Event, error) {
	for {
		h, err := l.next()
		if err != nil {
			return nil, err
		}
		l.reached = h.event.Time
		if l.copies.has(h) {
			l.findings.add("event is a copy of another one and was skipped", h.event.Origin)
			continue
		}
		l.stats.Events++
		return &h.event, nil
	}
}

// next is Next with copies.
func (l *Log) next() (*held, error) {
	if l.last != nil {
		l.last.window.drop()
		l.fill(l.last)
		l.last = nil
	}
	if err := l.startDue(); err != nil {
		return nil, err
	}
	switch {
	case l.ctx.Err() != nil:
		return nil, l.ctx.Err()
	case len(l.running) == 0:
		return nil, io.EOF
	}
	l.last = l.earliest()
	return l.last.window.first(), nil
}

func (l *Log) earliest() *stream {
	first := l.running[0]
	for _, s := range l.running[1:] {
		if s.window.first().event.Time.Before(first.window.first().event.Time) {
			first = s
		}
	}
	return first
}

// startDue starts the sources that may have the next event.
func (l *Log) startDue() error {
	for len(l.waiting) > 0 {
		next := l.waiting[0]
		if len(l.running) > 0 && next.first.After(l.earliest().window.first().event.Time) {
			return nil
		}
		l.waiting = l.waiting[1:]
		s, err := next.start(l.ctx, &l.read)
		if err != nil {
			return fmt.Errorf("%s: %w", next.name(), err)
		}
		l.running = append(l.running, s)
		l.fill(s)
	}
	return nil
}

// fill reads until the window of a stream is full, and ends a stream that has no
// more events.
func (l *Log) fill(s *stream) {
	for !s.ended && !s.window.full() {
		text, err := s.lines.next()
		if err != nil {
			l.end(s, err)
			break
		}
		l.take(s, &text)
	}
	if s.ended && s.window.empty() {
		l.running = slices.DeleteFunc(l.running, func(o *stream) bool { return o == s })
	}
}

// end closes a file. What its window holds is still to come.
func (l *Log) end(s *stream, err error) {
	if !errors.Is(err, io.EOF) {
		l.findings.add("file could not be read to its end: "+err.Error(), Origin{s.name, s.lines.number})
	}
	_ = s.closer.Close() // was only read
	s.ended = true
}

// take puts a line into the window if it is an event that is wanted.
func (l *Log) take(s *stream, text *line) {
	l.stats.Lines++
	l.at = Origin{s.name, text.number}
	switch {
	case text.tooLong:
		l.findings.broken(text, nil, l.at)
	case len(text.text) == 0:
	case !l.mayBeWanted(text.text):
		l.skip(text)
	default:
		l.decode(s, text)
	}
}

func (l *Log) decode(s *stream, text *line) {
	e := &l.event
	*e = Event{Origin: l.at}
	err := l.decoder.decode(text.text, e)
	if err != nil && !errors.Is(err, errUnwanted) {
		l.findings.broken(text, err, l.at)
		return
	}
	for _, name := range l.decoder.unknown {
		l.findings.add(fmt.Sprintf("event has an unknown field %q", name), l.at)
	}
	l.stats.Audit++
	switch {
	case err != nil:
	case e.Time.Before(l.reached):
		l.findings.add("event is older than the one before it, too much so to be put in order, and was skipped", l.at)
	default:
		s.window.add(e, l.copies.id(l.decoder.auditID, text.text))
	}
}

// mayBeWanted reports whether a line has one of the words without which it
// cannot be wanted.
func (l *Log) mayBeWanted(text []byte) bool {
	for _, needle := range l.needles {
		if bytes.Contains(text, needle) {
			return true
		}
	}
	return false
}

// skip only looks whether a line is one object from end to end.
func (l *Log) skip(text *line) {
	switch n := len(text.text); {
	case text.text[0] != '{' || text.text[n-1] != '}':
		l.findings.broken(text, nil, l.at)
	case bytes.Contains(text.text[:min(n, 256)], []byte(`"EventList"`)):
		l.findings.broken(text, errList, l.at)
	case bytes.Contains(text.text[:min(n, 256)], []byte("audit.k8s.io/")):
		l.stats.Audit++
	}
}

// Findings are what was found until now, besides the events.
func (l *Log) Findings() []*Finding { return l.findings.all }

// Stats are what was read until now.
func (l *Log) Stats() Stats { return l.stats }

// Read is how many bytes were read of how many. total is 0 where it is not
// known, as for standard input.
func (l *Log) Read() (done, total int64) { return l.read.Load(), l.total }
