package elector

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"time"
)

// Record is a line in the log of an elector: that it began to lead, or stopped,
// as it sees it. One that is killed, or stopped by a signal, says nothing.
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
