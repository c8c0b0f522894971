package auditlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// bufferSize is what is read at once. A longer line is put together.
	bufferSize = 256 << 10
	// maxLine bounds a line. An object has at most 3 MiB, and an event has two;
	// only lists are longer, and they are of no use.
	maxLine = 16 << 20
)

// lineReader reads lines of any length, in bounded memory.
type lineReader struct {
	buffered *bufio.Reader
	long     []byte
	number   int64
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{buffered: bufio.NewReaderSize(r, bufferSize)}
}

// line is one line without its end.
type line struct {
	// text is only valid until the next one is read.
	text   []byte
	number int64
	// ended says that it ends with a newline. Only the last line may not.
	ended bool
	// tooLong says that it is longer than maxLine, and text only its beginning.
	tooLong bool
}

// next returns io.EOF after the last line. Any other error ends the file, too.
// The line that was read until then comes first.
func (l *lineReader) next() (line, error) {
	part, err := l.buffered.ReadSlice('\n')
	if len(part) == 0 && err != nil {
		return line{}, err
	}
	l.number++
	out := line{text: part, number: l.number}
	if errors.Is(err, bufio.ErrBufferFull) {
		out.text, out.tooLong, err = l.rest(part)
	}
	out.ended = err == nil
	out.text = bytes.TrimSpace(out.text)
	return out, nil
}

// rest reads what does not fit the buffer.
func (l *lineReader) rest(part []byte) (text []byte, tooLong bool, err error) {
	l.long = append(l.long[:0], part...)
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		part, err = l.buffered.ReadSlice('\n')
		if len(l.long)+len(part) > maxLine {
			tooLong = true
			continue
		}
		l.long = append(l.long, part...)
	}
	return l.long, tooLong, err
}
