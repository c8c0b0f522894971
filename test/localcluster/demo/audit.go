package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy makes the API server record who writes the demo's Lease, and
// with what answer.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create, update, patch]
  namespaces: [` + namespace + `]
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: None
`

// leaseReader turns the API server's audit log into events on one Lease. It
// sees what the components did, whether Leasewarden is asked or not.
type leaseReader struct {
	lease  string
	file   *os.File
	holder string
}

// open opens the audit log at its present end.
func (r *leaseReader) open(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	r.file = file
	_, err = file.Seek(0, io.SeekEnd)
	return err
}

// read sends the events of every line that is added, until ctx ends.
func (r *leaseReader) read(ctx context.Context, events chan<- event) {
	defer r.file.Close()
	followLines(ctx, r.file, func(line []byte) {
		var record auditv1.Event
		if json.Unmarshal(line, &record) != nil {
			return
		}
		if e, ok := r.event(&record); ok {
			events <- e
		}
	})
}

// event is what the record says of the Lease, if it is one of its writes and
// more than a renewal.
func (r *leaseReader) event(record *auditv1.Event) (event, bool) {
	if record.ObjectRef == nil || record.RequestObject == nil || record.ResponseStatus == nil {
		return event{}, false
	}
	var lease coordinationv1.Lease
	if json.Unmarshal(record.RequestObject.Raw, &lease) != nil || lease.Name != r.lease {
		return event{}, false
	}
	e := event{at: record.StageTimestamp.Time, pod: podOf(record)}
	holder := ""
	if lease.Spec.HolderIdentity != nil {
		holder = *lease.Spec.HolderIdentity
	}
	switch code := record.ResponseStatus.Code; {
	case code == http.StatusForbidden:
		e.kind, e.detail = refused, reason(record.ResponseStatus.Message)
	case code >= 300 || holder == r.holder:
		return event{}, false
	case holder == "":
		e.kind = released
	default:
		e.kind = leads
	}
	if e.kind != refused {
		r.holder = holder
	}
	return e, true
}

// podOf is the Pod that the request's token is bound to.
func podOf(record *auditv1.Event) string {
	if names := record.User.Extra["authentication.kubernetes.io/pod-name"]; len(names) > 0 {
		return names[0]
	}
	return record.User.Username
}

// followLines calls handle for each line of r, and for those that are still to
// come, until ctx ends.
func followLines(ctx context.Context, r io.Reader, handle func(line []byte)) {
	lines := bufio.NewReader(r)
	var line []byte
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		part, err := lines.ReadBytes('\n')
		line = append(line, part...)
		if err == nil {
			handle(line)
			line = line[:0]
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
