package simulation

import (
	"context"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// What people do, with kubectl.
const (
	evSwitchover    = "switch over"
	evPin           = "pin"
	evPauseElection = "pause election"
	evLeaseEdit     = "edit lease"
)

// want has a person want something of the component's Election, for a while.
func (w *world) want(ev *event, c *component, p *pod, lasts time.Duration) {
	if w.options.Without || c.policy.Load() == nil || p == nil {
		return
	}
	w.trace.add("%s of %s: %s, for %s", ev.what, c.name, p.name, lasts)
	w.watchdog.disturb(lateAfter)
	w.editElection(c, func(spec *v1alpha1.ElectionSpec) {
		switch ev.what {
		case evSwitchover:
			spec.Switchover = &v1alpha1.Switchover{To: p.name, Timeout: &metav1.Duration{Duration: max(lasts.Truncate(time.Second), time.Second)}}
		case evPin:
			spec.Pin = p.name
		case evPauseElection:
			spec.Paused = true
		}
	})
	if ev.what == evSwitchover && !c.coordinated {
		return // to end it is up to Leasewarden
	}
	w.after(ev, lasts, func() {
		w.trace.add("%s of %s is over", ev.what, c.name)
		w.watchdog.disturb(lateAfter)
		w.editElection(c, func(spec *v1alpha1.ElectionSpec) { *spec = v1alpha1.ElectionSpec{Switchover: spec.Switchover} })
	})
}

// wanted is what people want of the component's Election.
func (w *world) wanted(c *component) v1alpha1.ElectionSpec {
	var e v1alpha1.Election
	w.api.Read(api.Elections, namespace, c.name, &e)
	return e.Spec
}

func (w *world) editElection(c *component, change func(*v1alpha1.ElectionSpec)) {
	e := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.name}}
	w.api.Read(api.Elections, namespace, c.name, e)
	change(&e.Spec)
	w.api.Put(api.Elections, e)
}

// handPrefix begins the names of the clients of people.
const handPrefix = "kubectl-"

func byHand(client string) bool { return strings.HasPrefix(client, handPrefix) }

// edits of a Lease that people make.
var edits = []func(*coordinationv1.Lease){
	func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil },
	func(l *coordinationv1.Lease) {
		stranger, now := "somebody-else", metav1.NewMicroTime(time.Now())
		l.Spec.HolderIdentity, l.Spec.AcquireTime, l.Spec.RenewTime = &stranger, &now, &now
	},
	func(l *coordinationv1.Lease) { l.Annotations = nil },
	func(l *coordinationv1.Lease) { second := int32(1); l.Spec.LeaseDurationSeconds = &second },
	func(l *coordinationv1.Lease) { metav1.SetMetaDataAnnotation(&l.ObjectMeta, "example.com/owner", "me") },
}

// editLease has a person change the component's Lease. It is admitted or not as
// any write.
func (w *world) editLease(ev *event, c *component) {
	w.trace.add("%s of %s, %d", ev.what, c.name, ev.pod%len(edits))
	link := w.frontends[ev.pod%len(w.frontends)].Link(fmt.Sprint(handPrefix, ev.n),
		authenticationv1.UserInfo{Username: "admin", Groups: []string{user.SystemPrivilegedGroup}}, 30*time.Second)
	client := api.LeaseClient{Link: link}.Leases(namespace)
	go func() {
		lease, err := client.Get(context.Background(), c.name, metav1.GetOptions{})
		if err != nil {
			return
		}
		edits[ev.pod%len(edits)](lease)
		if _, err := client.Update(context.Background(), lease, metav1.UpdateOptions{}); err != nil {
			w.trace.add("the edit of %s is refused: %v", c.name, err)
		}
	}()
}
