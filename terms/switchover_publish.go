package terms

import (
	"context"
	"encoding/json"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// answers reports whether a status answers a person differently than the
// published one. Somebody waits for that, so it does not wait for a slot.
func (p *publication) answers(status *v1alpha1.ElectionStatus) bool {
	last := p.status
	if last == nil {
		last = &v1alpha1.ElectionStatus{}
	}
	same := apiequality.Semantic.DeepEqual
	return !same(last.Switchover, status.Switchover) || !same(last.Pin, status.Pin)
}

// clearSwitchover takes a switchover that has ended out of the spec, once: if
// it is put back, it stays. The answer is in the status by then.
func (p *Publisher) clearSwitchover(ctx context.Context, key types.NamespacedName, pub *publication) error {
	if !clearsSwitchover(&pub.wanted.spec, pub.wanted.generation, pub.status.Switchover) {
		return nil
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": pub.wanted.uid},
		{"op": "test", "path": "/metadata/generation", "value": pub.wanted.generation},
		{"op": "remove", "path": "/spec/switchover"},
	})
	if err != nil {
		return err
	}
	election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err = p.Client.Patch(ctx, election, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldManager))
	switch {
	case err == nil:
		pub.wanted.take(election)
		return nil
	case absent(err) || apierrors.IsInvalid(err):
		// Somebody has changed the spec meanwhile, and the watch brings the news.
		return nil
	}
	p.outage.failed(p.Log, err)
	return fmt.Errorf("taking the switchover out of Election %s: %w", key, err)
}

// blank takes away what we say of a Lease, and leaves what others do.
func (p *Publisher) blank(ctx context.Context, key types.NamespacedName, pub *publication) error {
	if apiequality.Semantic.DeepEqual(pub.status, &v1alpha1.ElectionStatus{}) {
		return nil
	}
	// Not by applying an empty status: with no field left in it, that is one of
	// null, which is invalid.
	election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err := p.Client.Status().Patch(ctx, election, client.RawPatch(types.MergePatchType, []byte(`{"status":null}`)), client.FieldOwner(FieldManager))
	if err == nil || absent(err) {
		return nil
	}
	p.outage.failed(p.Log, err)
	return fmt.Errorf("status of Election %s: %w", key, err)
}
