package main

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// auditedBytes is how long the audit log is.
func (b *bench) auditedBytes() (int64, error) {
	info, err := os.Stat(b.cluster.AuditLog())
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// audited are the writes in the audit log from there on that want holds true
// for.
func (b *bench) audited(from int64, want func(*auditv1.Event) bool) ([]*auditv1.Event, error) {
	file, err := os.Open(b.cluster.AuditLog())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(from, 0); err != nil {
		return nil, err
	}
	var all []*auditv1.Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		e := &auditv1.Event{}
		if err := json.Unmarshal(lines.Bytes(), e); err != nil {
			return nil, err
		}
		if writes(e) && want(e) {
			all = append(all, e)
		}
	}
	return all, lines.Err()
}

func writes(e *auditv1.Event) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb) && e.ObjectRef != nil
}

// wardenWrites are what Leasewarden has written from there on: how often its own
// Lease, and what else. Reviews of tokens and rights are stored nowhere.
func (b *bench) wardenWrites(from int64) (own int, other []string, err error) {
	events, err := b.audited(from, func(e *auditv1.Event) bool { return e.User.Username == account })
	for _, e := range events {
		switch {
		case e.ObjectRef.Resource == "leases" && e.ObjectRef.Namespace == installation.Namespace:
			own++
		default:
			other = append(other, resourceOf(e))
		}
	}
	return own, other, err
}

func resourceOf(e *auditv1.Event) string {
	name := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		name += "/" + e.ObjectRef.Subresource
	}
	return name
}

// count says how often each is among them.
func count(all []string) map[string]int {
	n := map[string]int{}
	for _, s := range all {
		n[s]++
	}
	return n
}
