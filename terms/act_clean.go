package terms

import (
	"context"
	"encoding/json"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// Cleanup is the merge patch that takes away what is left of ours on a Lease. Nil:
// nothing is. It fails if the Lease was made anew.
func Cleanup(lease *coordinationv1.Lease) ([]byte, error) {
	left := map[string]any{}
	for _, name := range v1alpha1.LeaseAnnotations {
		if _, ok := lease.Annotations[name]; ok {
			left[name] = nil
		}
	}
	spec := map[string]any{}
	if ourPreferredHolder(lease) != "" {
		spec["preferredHolder"] = nil
	}
	if len(left)+len(spec) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": lease.UID, "annotations": left}, "spec": spec})
}

// clean takes away what is left of ours on a Lease that no policy governs any
// more.
func (p *Publisher) clean(ctx context.Context, key types.NamespacedName, lease *coordinationv1.Lease) error {
	if lease == nil {
		return nil
	}
	patch, err := Cleanup(lease)
	if patch == nil || err != nil {
		return err
	}
	object := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err = p.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager))
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	p.outage.failed(p.Log, err)
	return fmt.Errorf("cleaning lease %s: %w", key, err)
}
