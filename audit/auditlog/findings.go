package auditlog

import (
	"errors"
	"fmt"
	"strings"
)

// maxNamed bounds how many lines a finding names, and maxUnknown how many
// unknown fields are told apart.
const (
	maxNamed   = 5
	maxUnknown = 100
)

// Finding is something about a log that kept no other line from being read.
type Finding struct {
	// What was found, such as "line is not JSON".
	What string `json:"what"`
	// Count is in how many lines.
	Count int64 `json:"count"`
	// Lines are the first of them, as FILE:LINE.
	Lines []string `json:"lines"`
}

// String is how reports name it: "line is broken (2): a.log:3, a.log:7".
func (f *Finding) String() string {
	named := strings.Join(f.Lines, ", ")
	if f.Count > int64(len(f.Lines)) {
		named += ", ..."
	}
	return fmt.Sprintf("%s (%d): %s", f.What, f.Count, named)
}

// findings collects findings, in the order in which they were first made.
type findings struct {
	all    []*Finding
	byWhat map[string]*Finding
}

func (f *findings) add(what string, at Origin) {
	found := f.byWhat[what]
	if found == nil {
		if len(f.all) >= maxUnknown {
			what = "something else was found, too"
			found = f.byWhat[what]
		}
		if found == nil {
			found = f.begin(what)
		}
	}
	found.Count++
	if len(found.Lines) < maxNamed {
		found.Lines = append(found.Lines, at.String())
	}
}

func (f *findings) begin(what string) *Finding {
	found := &Finding{What: what}
	if f.byWhat == nil {
		f.byWhat = map[string]*Finding{}
	}
	f.byWhat[what] = found
	f.all = append(f.all, found)
	return found
}

// broken takes up a line that could not be decoded.
func (f *findings) broken(l *line, err error, at Origin) {
	switch {
	case l.tooLong:
		f.add(fmt.Sprintf("line is longer than %d MiB and was skipped", maxLine>>20), at)
	case errors.Is(err, errForeign):
		f.add("line "+errForeign.Error(), at)
	case errors.Is(err, errList):
		f.add("line "+errList.Error(), at)
	case severalLines(l):
		f.add("JSON takes several lines, or one line has several events: "+oneEventALine, at)
	case !l.ended:
		f.add("last line is cut off", at)
	default:
		f.add("line is broken", at)
	}
}

// oneEventALine says how to get there.
const oneEventALine = "write one event a line, as jq -c . does, or jq -c '.items[]' of an EventList"

// severalLines reports whether a line looks like the first one of JSON that is
// written for people, or like a list of events.
func severalLines(l *line) bool {
	text := string(l.text[:min(len(l.text), 2)])
	return l.ended && (text == "{" || text == "[") || text == "[{"
}
