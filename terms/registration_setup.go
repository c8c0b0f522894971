package terms

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// SetupWithManager has the manager run the Registration in the leader. It runs
// again after each event from rotated, which says that the CA has changed.
func (r *Registration) SetupWithManager(mgr ctrl.Manager, rotated <-chan event.GenericEvent) error {
	if err := r.Endpoint.Validate(); err != nil {
		return err
	}
	if r.Namespaces == nil {
		r.Namespaces = mgr.GetAPIReader()
	}
	everything := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: ConfigurationName}}}
	})
	ours := builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == ConfigurationName }))
	specs := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("registration").
		Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, everything, ours).
		Watches(&admissionregistrationv1.MutatingWebhookConfiguration{}, everything, ours).
		Watches(&v1alpha1.ElectionPolicy{}, everything, specs).
		Watches(&v1alpha1.ClusterElectionPolicy{}, everything, specs).
		WatchesRawSource(source.Channel(rotated, everything)).
		Complete(r)
}
