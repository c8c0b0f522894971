package elector

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Record is a line in the log of an elector: that it began to lead, or stopped,
// as it sees it. One that is killed says nothing. One that was stopped by a signal
// says afterwards that it did not lead from then on, until it renews the Lease.
type Record struct {
	// Identity is the elector's.
	Identity string `json:"identity"`
	// Leads is true at the beginning of a term and false at its end.
	Leads bool      `json:"leads"`
	At    time.Time `json:"at"`
}

// Write appends the record to a log.
func (r Record) Write(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// ReadRecords returns the records in a log, among whatever else it says.
func ReadRecords(r io.Reader) ([]Record, error) {
	var records []Record
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return records, nil // a last line without an end is not written yet
		}
		if err != nil {
			return records, err
		}
		var record Record
		if bytes.HasPrefix(line, []byte(`{"identity":`)) && json.Unmarshal(line, &record) == nil {
			records = append(records, record)
		}
	}
}

// Sort sorts the records of several logs by time.
func Sort(records []Record) {
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Identity, b.Identity))
	})
}

// Terms returns the first record of each term, of records in the order of time.
// A leader that has stood still for a while, and then goes on, has one term.
func Terms(records []Record) []Record {
	var terms []Record
	for _, r := range records {
		if r.Leads && (len(terms) == 0 || terms[len(terms)-1].Identity != r.Identity) {
			terms = append(terms, r)
		}
	}
	return terms
}

// Overlaps says which electors led while another one did, by their own word, of
// records in the order of time. One that does not say when it stopped was killed,
// and is taken for dead as soon as another one leads.
func Overlaps(records []Record) []string {
	var found []string
	for i, r := range records {
		after := records[i+1:]
		end := slices.IndexFunc(after, func(s Record) bool { return !s.Leads && s.Identity == r.Identity })
		if !r.Leads || end < 0 {
			continue
		}
		for _, other := range after[:end] {
			if other.Leads {
				found = append(found, fmt.Sprintf("%s from %s to %s, and %s from %s", r.Identity,
					r.At.Format(time.RFC3339Nano), after[end].At.Format(time.RFC3339Nano), other.Identity, other.At.Format(time.RFC3339Nano)))
			}
		}
	}
	return found
}
