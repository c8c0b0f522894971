package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/leasewarden/leasewarden/audit/auditlog"
)

// leaseAfter is the Lease as a successful write left it: as the answer shows it
// or, if answers are not recorded, as it was asked for. nil: not known.
func leaseAfter(e *auditlog.Event, before []byte) []byte {
	if e.Response != nil {
		return e.Response
	}
	return leaseAsked(e, before)
}

// leaseAsked is the Lease as a write wants it. nil: not known.
func leaseAsked(e *auditlog.Event, before []byte) []byte {
	switch {
	case e.Request == nil:
		return nil
	case e.Verb != "patch":
		return e.Request
	case before == nil:
		return nil
	}
	return patched(before, e.Request)
}

// patched applies a patch. A Lease has no lists in its spec, so that a
// strategic merge patch and an apply are merge patches.
func patched(before, patch []byte) []byte {
	var after []byte
	var err error
	if bytes.HasPrefix(patch, []byte("[")) {
		var operations jsonpatch.Patch
		if operations, err = jsonpatch.DecodePatch(patch); err == nil {
			after, err = operations.Apply(before)
		}
	} else {
		after, err = jsonpatch.MergePatch(before, patch)
	}
	if err != nil {
		return nil
	}
	return after
}

// decodeLease returns nil for what is no Lease.
func decodeLease(raw []byte, key types.NamespacedName) *coordinationv1.Lease {
	lease, err := readLease(raw)
	if err != nil {
		return nil
	}
	lease.Namespace, lease.Name = key.Namespace, key.Name
	return lease
}

var errNoObject = errors.New("there is no object")

func readLease(raw []byte) (*coordinationv1.Lease, error) {
	if raw == nil {
		return nil, errNoObject
	}
	lease := &coordinationv1.Lease{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, lease); err != nil {
		return nil, err
	}
	if lease.Kind != "" && lease.Kind != "Lease" {
		return nil, fmt.Errorf("its kind is %q", lease.Kind)
	}
	return lease, nil
}

// problemOf says why an object is no Lease. Empty: it is one.
func problemOf(raw []byte) string {
	if _, err := readLease(raw); err != nil {
		return err.Error()
	}
	return ""
}

// renewal recognises the Lease of one holder without decoding it. JSON inside a
// string has its quotation marks escaped, so that what is found is a field.
type renewal struct{ holder, duration []byte }

func newRenewal(lease *coordinationv1.Lease) renewal {
	if lease.Spec.HolderIdentity == nil || lease.Spec.LeaseDurationSeconds == nil {
		return renewal{}
	}
	identity, err := json.Marshal(*lease.Spec.HolderIdentity)
	if err != nil {
		return renewal{}
	}
	return renewal{
		holder:   append([]byte(`"holderIdentity":`), identity...),
		duration: strconv.AppendInt([]byte(`"leaseDurationSeconds":`), int64(*lease.Spec.LeaseDurationSeconds), 10),
	}
}

// is reports whether raw surely is the same holder's Lease with the same
// duration.
func (r renewal) is(raw []byte) bool {
	if r.holder == nil || !bytes.Contains(raw, r.holder) {
		return false
	}
	i := bytes.Index(raw, r.duration)
	if i < 0 {
		return false
	}
	rest := raw[i+len(r.duration):]
	return len(rest) > 0 && (rest[0] == ',' || rest[0] == '}')
}
