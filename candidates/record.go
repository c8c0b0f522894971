package candidates

import (
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// record is what changes in a Lease with every renewal and every change of
// hands: client-go compares the same to see whether the holder is alive.
type record struct {
	exists            bool
	holder            string
	renewed, acquired time.Time
	transitions       int32
	duration          time.Duration
	// version is the resourceVersion, which orders two looks at one Lease. 0:
	// not known.
	version uint64
}

func recordOf(lease *coordinationv1.Lease) record {
	if lease == nil {
		return record{}
	}
	r := record{exists: true}
	s := &lease.Spec
	if s.HolderIdentity != nil {
		r.holder = *s.HolderIdentity
	}
	if s.RenewTime != nil {
		r.renewed = s.RenewTime.Time
	}
	if s.AcquireTime != nil {
		r.acquired = s.AcquireTime.Time
	}
	if s.LeaseTransitions != nil {
		r.transitions = *s.LeaseTransitions
	}
	if s.LeaseDurationSeconds != nil {
		r.duration = time.Duration(*s.LeaseDurationSeconds) * time.Second
	}
	// Not a number: not an API server's, and no order is known.
	r.version, _ = strconv.ParseUint(lease.ResourceVersion, 10, 64)
	return r
}

// before reports whether r is an older look at the same Lease than o.
func (r record) before(o record) bool {
	return r.exists && o.exists && r.version != 0 && r.version < o.version
}

func (r record) same(o record) bool {
	return r.exists == o.exists && r.holder == o.holder && r.renewed.Equal(o.renewed) &&
		r.acquired.Equal(o.acquired) && r.transitions == o.transitions && r.duration == o.duration
}

// ends is when the term of the record has run out at the earliest: by its own
// renewTime or, counted from when we first saw the record, by our own clock.
// A holder's clock that is ahead can so hold the Lease for one duration
// longer, and no more. Zero: there is no term.
func (r record) ends(firstSeen time.Time) time.Time {
	if r.holder == "" || r.renewed.IsZero() || r.duration <= 0 {
		return time.Time{}
	}
	byHolder, byUs := r.renewed.Add(r.duration), firstSeen.Add(r.duration)
	if byUs.Before(byHolder) {
		return byUs
	}
	return byHolder
}

// held reports whether somebody holds the Lease as far as we can tell. If we
// saw the record come (witnessed), our own clock tells: the holder's may be
// behind. If we came later, its renewTime is all there is.
func (r record) held(firstSeen time.Time, witnessed bool, now time.Time) bool {
	if r.ends(firstSeen).IsZero() || !now.Before(firstSeen.Add(r.duration)) {
		return false
	}
	return witnessed || now.Before(r.renewed.Add(r.duration))
}
