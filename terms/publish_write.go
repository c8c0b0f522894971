package terms

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// write publishes the status of an Election, which it makes first if there is
// none, and tells what is new in it.
func (p *Publisher) write(ctx context.Context, key types.NamespacedName, pub *publication, status *v1alpha1.ElectionStatus) error {
	written, err := p.apply(ctx, key, pub, status)
	switch {
	case err == nil:
		p.outage.ended(p.Log)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err // the Lease is about to go, too
	default:
		if apierrors.IsNotFound(err) {
			pub.gone()
		}
		p.outage.failed(p.Log, err)
		return err
	}
	previous := pub.status
	pub.uid, pub.version, pub.status = written.GetUID(), written.GetResourceVersion(), status
	p.record(key, pub, statusFindings(previous, status))
	return nil
}

func (p *Publisher) apply(ctx context.Context, key types.NamespacedName, pub *publication, status *v1alpha1.ElectionStatus) (*unstructured.Unstructured, error) {
	if pub.status == nil {
		election := newApply("Election", key)
		election.SetLabels(managedBy)
		if err := p.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(election), client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
			return nil, fmt.Errorf("Election %s: %w", key, err)
		}
	}
	election, err := p.applyStatus(ctx, newApply("Election", key), status)
	if err != nil {
		return nil, fmt.Errorf("status of Election %s: %w", key, err)
	}
	return election, nil
}

// applyStatus applies a status, and returns the object as it is then.
func (p *Publisher) applyStatus(ctx context.Context, object *unstructured.Unstructured, status any) (*unstructured.Unstructured, error) {
	fields, err := toFields(status)
	if err != nil {
		return nil, err
	}
	object.Object["status"] = fields
	err = p.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(FieldManager), client.ForceOwnership)
	return object, err
}

// toFields is a status as the API server takes it.
func toFields(status any) (map[string]any, error) {
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	return fields, json.Unmarshal(raw, &fields)
}

// newApply is an object of ours to apply, with nothing in it.
func newApply(kind string, key types.NamespacedName) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	u.SetNamespace(key.Namespace)
	u.SetName(key.Name)
	return u
}

// remove deletes the Election that has that UID, if there still is one.
func (p *Publisher) remove(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err := p.Client.Delete(ctx, election, client.Preconditions{UID: &uid})
	if err == nil || absent(err) || apierrors.IsConflict(err) {
		return nil
	}
	p.outage.failed(p.Log, err)
	return fmt.Errorf("deleting Election %s: %w", key, err)
}

// absent reports whether an object, or its whole kind, does not exist.
func absent(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// outage makes one line in the log of what may be thousands of failed writes.
type outage struct {
	on atomic.Bool
	// writes counts all of them.
	writes prometheus.Counter
}

func (o *outage) failed(log logr.Logger, err error) {
	o.writes.Inc()
	if !o.on.Swap(true) {
		log.Info("Cannot publish, trying again. Nobody's leadership depends on it", "error", err.Error())
	}
}

func (o *outage) ended(log logr.Logger) {
	if o.on.Swap(false) {
		log.Info("Publishing again")
	}
}
