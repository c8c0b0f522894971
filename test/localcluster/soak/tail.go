package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// tail reads a log that grows.
type tail struct {
	path    string
	offset  int64
	partial []byte
	// changed is when something was last written.
	changed time.Time
}

// lines are the whole lines that came since the last call.
func (t *tail) lines() ([][]byte, error) {
	info, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == t.offset {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open(t.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(t.offset, io.SeekStart); err != nil {
		return nil, err
	}
	more, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	t.changed = info.ModTime()
	t.offset += int64(len(more))
	all := append(t.partial, more...)
	end := bytes.LastIndexByte(all, '\n') + 1
	t.partial = bytes.Clone(all[end:])
	return bytes.SplitAfter(all[:end], []byte("\n")), nil
}
