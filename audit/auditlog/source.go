package auditlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// source is one file of the log.
type source struct {
	path string
	// first is when its first event was. Zero: not known, or it has none.
	first time.Time
	// info tells files apart. Nil for standard input.
	info os.FileInfo
	open func() (io.ReadCloser, error)
}

// name is how messages call the file.
func (s *source) name() string {
	if s.path == Stdin {
		return "standard input"
	}
	return s.path
}

// same reports whether both are one file, also by another name.
func (s *source) same(other *source) bool {
	if s.info == nil || other.info == nil {
		return s.path == other.path
	}
	return os.SameFile(s.info, other.info)
}

// stream is a source that is being read, or whose window has events.
type stream struct {
	name   string
	closer io.Closer
	lines  *lineReader
	window window
	ended  bool
}

// start opens the source. Bytes are counted as they lie in the file.
func (s *source) start(ctx context.Context, count *atomic.Int64) (*stream, error) {
	file, err := s.open()
	if err != nil {
		return nil, err
	}
	plain := decompress(&counter{file, ctx, count})
	return &stream{name: s.name(), closer: file, lines: newLineReader(plain)}, nil
}

// decompress reads gzip by its magic number, whatever the file is called.
func decompress(r io.Reader) io.Reader {
	buffered := bufio.NewReaderSize(r, bufferSize)
	if magic, _ := buffered.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered
	}
	plain, err := gzip.NewReader(buffered)
	if err != nil {
		return unreadable{err}
	}
	return plain
}

// unreadable is a file of which nothing can be read.
type unreadable struct{ err error }

func (u unreadable) Read([]byte) (int, error) { return 0, u.err }

// counter counts what is read, and reads until ctx ends.
type counter struct {
	io.Reader
	ctx   context.Context
	count *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Reader.Read(p)
	c.count.Add(int64(n))
	return n, err
}

// newSource looks at a path, and when its first event was.
func newSource(ctx context.Context, path string, stdin io.Reader) (*source, int64, error) {
	if path == Stdin {
		return &source{path: path, open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }}, 0, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, 0, err
	case info.IsDir():
		return nil, 0, &os.PathError{Op: "read", Path: path, Err: errors.New("is a directory: give the files in it")}
	}
	s := &source{path: path, info: info, open: func() (io.ReadCloser, error) { return os.Open(path) }}
	if info.Mode().IsRegular() {
		s.first, err = s.firstTime(ctx)
	}
	return s, info.Size(), err
}

// maxLookahead bounds how many lines are looked at for the first event,
// lookAround how many more for earlier ones: lines may be out of order.
const (
	maxLookahead = 1000
	lookAround   = 100
)

// firstTime is when the first event in the file was, whatever its line.
func (s *source) firstTime(ctx context.Context) (first time.Time, err error) {
	var ignored atomic.Int64
	in, err := s.start(ctx, &ignored)
	if err != nil {
		return time.Time{}, err
	}
	defer in.closer.Close()
	d := newDecoder(func(Ref) bool { return true })
	for left := maxLookahead; left > 0; left-- {
		l, err := in.lines.next()
		if err != nil {
			break
		}
		var e Event
		if err := d.decode(l.text, &e); e.Time.IsZero() || err != nil && !errors.Is(err, errUnwanted) {
			continue
		}
		if first.IsZero() {
			left = min(left, lookAround)
		}
		if first.IsZero() || e.Time.Before(first) {
			first = e.Time
		}
	}
	return first, nil
}
