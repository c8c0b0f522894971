package candidates

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/leasewarden/leasewarden/picker"
)

// released is the duration that client-go writes when it releases a Lease
// (tools/leaderelection, release). It says nothing about the next term.
const released = time.Second

// pickerLease is what a decision depends on of the Lease.
func (a *assembly) pickerLease(lease *coordinationv1.Lease, past memory) picker.Lease {
	l := picker.Lease{
		Namespace:      a.lease.Namespace,
		Name:           a.lease.Name,
		ContestedSince: past.since,
	}
	if lease != nil {
		l.Labels, l.Annotations = lease.Labels, lease.Annotations
	}
	r := recordOf(lease)
	firstSeen := past.firstSeen
	if firstSeen.IsZero() {
		firstSeen = a.now
	}
	l.Duration = heldDuration(r, past.duration)
	if r.held(firstSeen, past.witnessed, a.now) {
		l.Holder = a.holderOf(&r)
	} else {
		l.Expired = r.holder != ""
		l.LastHolder = a.lastHolder(r.holder, past.lastHolder)
	}
	if a.policy.needs.heldByNode {
		l.HeldByNode = a.objects.HeldByNode(a.lease)
	}
	return l
}

// heldDuration is how long a term lasts. The record of a vacant Lease need not
// say it: whoever releases it may write what it wants.
func heldDuration(r record, remembered time.Duration) time.Duration {
	switch {
	case r.holder != "":
		return r.duration
	case remembered == 0 && r.duration > released:
		return claimedDuration(r.duration)
	}
	return remembered
}

// holderOf is the Name of the candidate that holds the Lease, or "". A Pod that
// has acquired it runs, whatever its status says yet, and also for a replica
// that did not hear it try.
func (a *assembly) holderOf(r *record) string {
	name := a.nameOf(r.holder)
	i, ok := a.roster.pod(name)
	if !ok {
		return name
	}
	c, pod := &a.roster.candidates[i], a.roster.instances[i].pod
	namesake := r.acquired.Before(pod.CreationTimestamp.Time) // an earlier Pod of that name
	if c.Unavailable == notRunning && !namesake {
		c.Unavailable = ""
	}
	return name
}

// nameOf is the Name of the candidate that writes identity, or "".
func (a *assembly) nameOf(identity string) string {
	i, ok := a.roster.one(identity)
	if !ok {
		return ""
	}
	if n := &a.roster.instances[i]; n.identity == "" {
		n.identity = identity
	}
	return a.roster.candidates[i].Name
}

// lastHolder is the Name of the candidate that held the Lease before it became
// vacant: the one whose term ran out, the one we saw last, or the one that the
// Election says.
func (a *assembly) lastHolder(identities ...string) string {
	for _, identity := range identities {
		if name := a.nameOf(identity); name != "" {
			return name
		}
	}
	e := a.objects.Election(a.lease)
	switch {
	case e == nil:
		return ""
	case e.Status.Holder != nil:
		return e.Status.Holder.Name
	case len(e.Status.Terms) > 0:
		return e.Status.Terms[0].Holder
	}
	return ""
}
