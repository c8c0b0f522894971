package main

import (
	"context"
	"fmt"

	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// known reports whether Leasewarden knows who leads and that all replicas may,
// and has nothing left to do.
func (l *lane) known(ctx context.Context) (bool, error) {
	if !l.governed {
		return true, nil
	}
	election := &v1alpha1.Election{}
	if err := l.client.Get(ctx, ctrlclient.ObjectKey{Namespace: l.namespace, Name: appName}, election); err != nil {
		return false, nil
	}
	identity, err := l.holder(ctx)
	if err != nil {
		return false, nil
	}
	eligible := 0
	for _, c := range election.Status.Candidates {
		if c.Eligible {
			eligible++
		}
	}
	holder := election.Status.Holder
	return eligible == replicas && holder != nil && holder.Identity == identity && election.Spec.Switchover == nil, nil
}

// switchover asks for the move of the Lease to that Pod, as the command of this
// name does.
func (l *lane) switchover(ctx context.Context, pod string) error {
	election := &v1alpha1.Election{ObjectMeta: l.meta(appName)}
	patch := fmt.Appendf(nil, `{"spec":{"switchover":{"to":%q}}}`, pod)
	return l.client.Patch(ctx, election, ctrlclient.RawPatch("application/merge-patch+json", patch), ctrlclient.FieldOwner("failover"))
}
