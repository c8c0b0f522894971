package terms

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// owner is Leasewarden's own Namespace, for the configurations: the garbage
// collector removes them after the Namespace, so that one that is deleted
// outright leaves nothing that could refuse a write. Nothing is blocked by it.
func (r *Registration) owner(ctx context.Context) (metav1.OwnerReference, error) {
	var namespace corev1.Namespace
	if err := r.Namespaces.Get(ctx, client.ObjectKey{Name: r.Namespace}, &namespace); err != nil {
		return metav1.OwnerReference{}, fmt.Errorf("reading Namespace %s, which shall own the webhook configurations: %w", r.Namespace, err)
	}
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID}, nil
}
