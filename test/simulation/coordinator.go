package simulation

import (
	"cmp"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// coordinator stands in for the controller of a kube-apiserver that coordinates
// the election of one component (KEP-4355): it gives the Lease to the candidate
// of the oldest version, and says who is preferred when that is another one.
// Coordinated electors never acquire a Lease by themselves.
type coordinator struct {
	w         *world
	component *component
	leases    coordinationclient.LeaseInterface
}

func newCoordinator(w *world, c *component) *coordinator {
	link := w.frontends[0].Link("coordinator of "+c.name, authenticationv1.UserInfo{Username: user.APIServerUser}, 5*time.Second)
	return &coordinator{w: w, component: c, leases: api.LeaseClient{Link: link}.Leases(namespace)}
}

func (o *coordinator) run() {
	for n := uint64(0); sleep(o.w.ctx, api.Between(api.Draw(o.w.seed, "coordinator of "+o.component.name, n), time.Second, 2*time.Second)); n++ {
		o.look()
	}
}

// best is the identity of the candidate that is to lead, or "".
func (o *coordinator) best() string {
	pods := o.w.podsOf(o.component)
	slices.SortStableFunc(pods, func(a, b *pod) int { return cmp.Or(cmp.Compare(a.minor, b.minor), cmp.Compare(a.name, b.name)) })
	for _, p := range pods {
		if e := p.current(); e != nil && p.fit() {
			return e.identity
		}
	}
	return ""
}

// look writes the Lease if there is a reason. What fails is tried again.
func (o *coordinator) look() {
	best := o.best()
	if best == "" {
		return
	}
	now, strategy := metav1.NewMicroTime(time.Now()), coordinationv1.OldestEmulationVersion
	seconds, transitions := int32(o.component.timing.lease/time.Second), int32(1)
	lease, err := o.leases.Get(o.w.ctx, o.component.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: o.component.name}}
		lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &best, AcquireTime: &now, RenewTime: &now,
			LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions, Strategy: &strategy}
		_, _ = o.leases.Create(o.w.ctx, lease, metav1.CreateOptions{})
		return
	}
	if err != nil {
		return
	}
	lease = lease.DeepCopy()
	spec := &lease.Spec
	switch holder := api.Holder(lease); {
	case holder == "" || spec.RenewTime == nil || spec.RenewTime.Add(leaseDuration(lease)).Before(now.Time):
		transitions += *spec.LeaseTransitions
		spec.HolderIdentity, spec.AcquireTime, spec.RenewTime, spec.PreferredHolder = &best, &now, &now, nil
		spec.LeaseDurationSeconds, spec.LeaseTransitions, spec.Strategy = &seconds, &transitions, &strategy
	case holder != best && (spec.PreferredHolder == nil || *spec.PreferredHolder != best):
		spec.PreferredHolder, spec.Strategy = &best, &strategy
	default:
		return
	}
	_, _ = o.leases.Update(o.w.ctx, lease, metav1.UpdateOptions{})
}
