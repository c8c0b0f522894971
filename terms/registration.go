package terms

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// ConfigurationName is the name of both webhook configurations.
const ConfigurationName = "leasewarden"

// managedBy marks the configurations as ours.
var managedBy = map[string]string{"app.kubernetes.io/managed-by": "leasewarden"}

// Trust is the certificate authority that the API server shall trust.
type Trust interface {
	// Bundle returns the CA bundle to publish, given the one that is published:
	// during a rotation it holds both CAs. It is to be asked again after
	// recheck, if that is not 0. The error says why there is none yet.
	Bundle(published []byte) (bundle []byte, recheck time.Duration, err error)
}

// Registration keeps the webhook configurations in step with the policies: the
// validating one always has an entry that checks policies, and both have entries
// for the Leases that some policy governs. What else is done to the
// configurations is undone, save labels and annotations.
type Registration struct {
	// Client reads from a cache.
	Client client.Client
	// Namespace is Leasewarden's own. Its Leases are never governed, and it owns
	// the configurations.
	Namespace string
	// Namespaces reads it, past any cache. Default in a manager: the manager's.
	Namespaces client.Reader
	Endpoint   Endpoint
	Trust      Trust
	// InjectCAFrom is the namespace and the name of the cert-manager Certificate
	// whose CA is injected into the configurations; Trust must leave it alone
	// then. Empty: none.
	InjectCAFrom string

	policies *candidates.PolicySet
	standing standing
}

// Reconcile brings both configurations in step. The request does not matter.
func (r *Registration) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	recheck, err := r.reconcile(ctx)
	switch {
	case err == nil:
		return ctrl.Result{RequeueAfter: recheck}, nil
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		// The cache was behind, which is no error, and over in a moment.
		return ctrl.Result{RequeueAfter: outdatedRetry}, nil
	}
	r.standing.failed(err)
	return ctrl.Result{}, err
}

// reconcile returns after what time to do it again. 0: when something changes.
func (r *Registration) reconcile(ctx context.Context) (time.Duration, error) {
	policies, err := r.compile(ctx)
	if err != nil {
		return 0, err
	}
	owner, err := r.owner(ctx)
	if err != nil {
		return 0, err
	}
	scopes := scopes(policies, r.Namespace)
	validating, err := r.reconcileValidating(ctx, scopes, owner)
	if err != nil {
		return 0, err
	}
	r.standing.succeeded(policies)
	mutating, err := r.reconcileMutating(ctx, scopes, owner)
	return sooner(validating, mutating), err
}

// outdatedRetry is how long a cache is given to catch up.
const outdatedRetry = 200 * time.Millisecond

func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// compile returns the policies. Those that did not change are not compiled
// again.
func (r *Registration) compile(ctx context.Context) ([]*candidates.Policy, error) {
	var namespaced v1alpha1.ElectionPolicyList
	if err := r.Client.List(ctx, &namespaced); err != nil {
		return nil, fmt.Errorf("listing ElectionPolicies: %w", err)
	}
	var cluster v1alpha1.ClusterElectionPolicyList
	if err := r.Client.List(ctx, &cluster); err != nil {
		return nil, fmt.Errorf("listing ClusterElectionPolicies: %w", err)
	}
	if r.policies == nil {
		r.policies = candidates.NewPolicySet(r.Namespace)
	}
	present := map[picker.PolicyRef]bool{}
	for i := range namespaced.Items {
		present[r.policies.Set(&namespaced.Items[i]).Ref] = true
	}
	for i := range cluster.Items {
		present[r.policies.SetCluster(&cluster.Items[i]).Ref] = true
	}
	for _, p := range r.policies.All() {
		if !present[p.Ref] {
			r.policies.Delete(p.Ref)
		}
	}
	return r.policies.All(), nil
}

func (r *Registration) reconcileValidating(ctx context.Context, scopes []scope, owner metav1.OwnerReference) (time.Duration, error) {
	current := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	exists, err := r.get(ctx, current)
	if err != nil {
		return 0, err
	}
	var published []byte
	if len(current.Webhooks) > 0 {
		published = current.Webhooks[0].ClientConfig.CABundle
	} else {
		r.standing.lost()
	}
	bundle, recheck, err := r.Trust.Bundle(published)
	if err != nil {
		return 0, err
	}
	desired := current.DeepCopy()
	desired.OwnerReferences = []metav1.OwnerReference{owner}
	desired.Webhooks = []admissionregistrationv1.ValidatingWebhook{policyEntry(r.Endpoint.client(r.Endpoint.ValidatePolicy, bundle))}
	for _, e := range rulings(scopes) {
		desired.Webhooks = append(desired.Webhooks, validatingEntry(e, r.Endpoint.client(r.Endpoint.ValidateLease, bundle)))
	}
	return recheck, r.apply(ctx, exists, current, desired)
}

func (r *Registration) reconcileMutating(ctx context.Context, scopes []scope, owner metav1.OwnerReference) (time.Duration, error) {
	current := &admissionregistrationv1.MutatingWebhookConfiguration{}
	exists, err := r.get(ctx, current)
	if err != nil {
		return 0, err
	}
	if len(scopes) == 0 {
		return 0, r.remove(ctx, exists, current)
	}
	var published []byte
	if len(current.Webhooks) > 0 {
		published = current.Webhooks[0].ClientConfig.CABundle
	}
	bundle, recheck, err := r.Trust.Bundle(published)
	if err != nil {
		return 0, err
	}
	desired := current.DeepCopy()
	desired.OwnerReferences = []metav1.OwnerReference{owner}
	desired.Webhooks = nil
	for _, e := range contests(scopes) {
		desired.Webhooks = append(desired.Webhooks, mutatingEntry(e, r.Endpoint.client(r.Endpoint.MutateLease, bundle)))
	}
	return recheck, r.apply(ctx, exists, current, desired)
}

func (r *Registration) get(ctx context.Context, configuration client.Object) (exists bool, err error) {
	err = r.Client.Get(ctx, client.ObjectKey{Name: ConfigurationName}, configuration)
	if apierrors.IsNotFound(err) {
		configuration.SetName(ConfigurationName)
		return false, nil
	}
	return err == nil, err
}

// apply writes desired if it is not what is there.
func (r *Registration) apply(ctx context.Context, exists bool, current, desired client.Object) error {
	labels := maps.Clone(desired.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, managedBy)
	desired.SetLabels(labels)
	r.annotate(desired)
	switch {
	case !exists:
		log.FromContext(ctx).Info("Registering the webhook", "configuration", typeName(desired))
		return r.Client.Create(ctx, desired)
	case !apiequality.Semantic.DeepEqual(current, desired):
		log.FromContext(ctx).Info("Updating the registration of the webhook", "configuration", typeName(desired))
		return r.Client.Update(ctx, desired)
	}
	return nil
}

// typeName is what kind an object is. Objects from a typed client do not say.
func typeName(o client.Object) string { return reflect.TypeOf(o).Elem().Name() }

func (r *Registration) remove(ctx context.Context, exists bool, current client.Object) error {
	if !exists {
		return nil
	}
	log.FromContext(ctx).Info("Removing the registration of the webhook, no policy governs a Lease", "configuration", typeName(current))
	uid := current.GetUID()
	err := r.Client.Delete(ctx, current, client.Preconditions(metav1.Preconditions{UID: &uid}))
	return client.IgnoreNotFound(err)
}
