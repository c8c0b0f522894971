package belief

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// Reader turns lines of one elector's log into events.
type Reader struct {
	// Lock is the Lease as client-go writes it into its log: NAMESPACE/NAME.
	Lock string
	// Records says that the elector's own records tell when it leads. Of its
	// client-go is then only heard that it renews.
	Records bool
	// Year is that of the log: klog does not write it. Its times are in UTC.
	Year int
}

// said is how client-go tells of an election. Releases differ in the capitals.
var said = map[string]Kind{
	"successfully acquired lease": Leads,
	"successfully renewed lease":  Renews,
	"failed to renew lease":       Stops,
}

// Line returns the event that the line tells of, if it does.
func (r *Reader) Line(line []byte) (Event, bool) {
	if r.Records && bytes.HasPrefix(line, []byte(`{"identity":`)) {
		return record(line)
	}
	text := strings.ToLower(string(line))
	for words, kind := range said {
		if !strings.Contains(text, words) || !r.about(text) || r.Records && kind != Renews {
			continue
		}
		at, ok := r.time(string(line))
		return Event{At: at, Kind: kind}, ok
	}
	return Event{}, false
}

func record(line []byte) (Event, bool) {
	var r elector.Record
	if json.Unmarshal(line, &r) != nil {
		return Event{}, false
	}
	if r.Leads {
		return Event{At: r.At, Kind: Leads}, true
	}
	return Event{At: r.At, Kind: Stops}, true
}

// about reports whether the line is about the Lease, and not about another one
// whose name begins like its name.
func (r *Reader) about(text string) bool {
	_, rest, ok := strings.Cut(text, r.Lock)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "\" \n:"))
}

// time reads that of klog's header: Lmmdd hh:mm:ss.uuuuuu.
func (r *Reader) time(line string) (time.Time, bool) {
	const layout = "0102 15:04:05.000000"
	if len(line) < 1+len(layout) {
		return time.Time{}, false
	}
	at, err := time.Parse(layout, line[1:1+len(layout)])
	if err != nil {
		return time.Time{}, false
	}
	return at.AddDate(r.Year, 0, 0), true
}
