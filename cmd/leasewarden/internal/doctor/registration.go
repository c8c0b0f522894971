package doctor

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/terms"
)

// draft is a cluster that has policies and nothing else, and keeps what is
// created in it: what Leasewarden would register.
type draft struct {
	client.Client
	snapshot   *snapshot
	validating *admissionregistrationv1.ValidatingWebhookConfiguration
	mutating   *admissionregistrationv1.MutatingWebhookConfiguration
}

// register has the code that registers the webhook do so for these policies.
func register(s *snapshot) (*draft, error) {
	d := &draft{snapshot: s}
	r := &terms.Registration{
		Client: d, Namespaces: d, Namespace: s.namespace, Trust: noCA{},
		Endpoint: terms.Endpoint{URL: "https://any", ValidateLease: "/", MutateLease: "/", ValidatePolicy: "/"},
	}
	_, err := r.Reconcile(logr.NewContext(context.Background(), logr.Discard()), ctrl.Request{})
	return d, err
}

// List knows the policies.
func (d *draft) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch l := list.(type) {
	case *v1alpha1.ElectionPolicyList:
		d.snapshot.policies.value.DeepCopyInto(l)
	case *v1alpha1.ClusterElectionPolicyList:
		d.snapshot.clusterPolicies.value.DeepCopyInto(l)
	}
	return nil
}

// Get knows that a Namespace is there, and nothing else.
func (d *draft) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if _, ok := o.(*corev1.Namespace); ok {
		o.SetName(key.Name)
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// Create keeps a configuration.
func (d *draft) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	switch c := o.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		d.validating = c
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		d.mutating = c
	}
	return nil
}

// noCA is a terms.Trust: the CAs are not compared.
type noCA struct{}

func (noCA) Bundle([]byte) ([]byte, time.Duration, error) { return nil, 0, nil }
