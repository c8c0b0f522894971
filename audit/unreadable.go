package audit

import (
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/audit/auditlog"
)

// unreadable counts writes that succeeded, of which the holder is not known.
type unreadable struct {
	// missing have no object, patches nothing that they change, broken one that
	// is no Lease. why says what is wrong with the first of those.
	missing, patches, broken int
	why                      string
}

// blind takes up such a write.
func (l *leaseAudit) blind(e *auditlog.Event) {
	raw := e.Response
	if raw == nil {
		raw = e.Request
	}
	u := &l.unreadable
	switch problem := problemOf(raw); {
	case raw == nil:
		u.missing++
	case e.Verb == "patch" && e.Response == nil:
		u.patches++
	default:
		if u.broken == 0 {
			u.why = fmt.Sprintf("%s: %s", e.Origin, problem)
		}
		u.broken++
	}
	l.unknown(e.Time)
}

// unknown takes up that who holds the Lease is not known as of a time.
func (l *leaseAudit) unknown(at time.Time) {
	l.history.Blind(at)
	if l.governed {
		l.course.blind(at)
	}
}

// notes say what could not be read, and what to do about it.
func (u *unreadable) notes() []string {
	const notKnown = "so that who held it then is not known; such time does not count as without a leader"
	var notes []string
	if u.missing > 0 {
		notes = append(notes, fmt.Sprintf("%d writes were recorded without the Lease, %s: record leases at the level Request or RequestResponse.", u.missing, notKnown))
	}
	if u.patches > 0 {
		notes = append(notes, fmt.Sprintf("%d patches were recorded without the answer, and cannot be applied to what is known of the Lease, %s: "+
			"record leases at the level RequestResponse.", u.patches, notKnown))
	}
	if u.broken > 0 {
		notes = append(notes, fmt.Sprintf("%d writes have an object that cannot be read as a Lease, %s (%s).", u.broken, notKnown, u.why))
	}
	return notes
}
