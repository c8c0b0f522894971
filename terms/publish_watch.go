package terms

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/candidates"
)

// watchLeases watches the Leases of the cluster until ctx is done. Those of the
// nodes, which are most of the renewals there are, stay with the API server.
func (p *Publisher) watchLeases(ctx context.Context) {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := &coordinationv1.LeaseList{}
			return list, p.Leases.List(ctx, list, leaseOptions(&o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return p.Leases.Watch(ctx, &coordinationv1.LeaseList{}, leaseOptions(&o))
		},
	}
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(lw, p.Leases),
		&coordinationv1.Lease{}, p.leases, cache.ReflectorOptions{Name: "leases", Logger: &p.Log})
	reflector.RunWithContext(ctx)
}

func leaseOptions(raw *metav1.ListOptions) *client.ListOptions {
	return &client.ListOptions{
		Raw:           raw,
		FieldSelector: fields.OneTermNotEqualSelector("metadata.namespace", candidates.NodeLeaseNamespace),
	}
}
