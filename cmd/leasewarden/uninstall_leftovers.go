package main

import (
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/terms"
)

// leftovers is what has to go before Leasewarden does.
type leftovers struct {
	client client.Client
	// policies, and the configurations of webhooks.
	policies, webhooks []client.Object
	// leases have something of ours, of so many in all.
	leases []*coordinationv1.Lease
	all    int
}

// findLeftovers looks for them. Without the CRDs there are no policies.
func findLeftovers(ctx context.Context, c client.Client) (*leftovers, error) {
	l := &leftovers{client: c}
	for _, list := range []client.ObjectList{&v1alpha1.ElectionPolicyList{}, &v1alpha1.ClusterElectionPolicyList{}} {
		if err := l.listPolicies(ctx, list); err != nil {
			return nil, fmt.Errorf("listing policies: %w", err)
		}
	}
	if err := l.listLeases(ctx); err != nil {
		return nil, fmt.Errorf("listing Leases: %w", err)
	}
	for _, webhook := range []client.Object{&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}} {
		err := c.Get(ctx, types.NamespacedName{Name: terms.ConfigurationName}, webhook)
		switch {
		case err == nil:
			l.webhooks = append(l.webhooks, webhook)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading the webhook configurations: %w", err)
		}
	}
	return l, nil
}

func (l *leftovers) listPolicies(ctx context.Context, list client.ObjectList) error {
	err := l.client.List(ctx, list)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return meta.EachListItem(list, func(o runtime.Object) error {
		l.policies = append(l.policies, o.(client.Object))
		return nil
	})
}

// listLeases leaves out the heartbeats of Nodes, which are never governed, and
// many.
func (l *leftovers) listLeases(ctx context.Context) error {
	others := fields.OneTermNotEqualSelector("metadata.namespace", candidates.NodeLeaseNamespace)
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		page := &coordinationv1.LeaseList{}
		return page, l.client.List(ctx, page, &client.ListOptions{FieldSelector: others, Limit: o.Limit, Continue: o.Continue})
	})
	return pages.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		lease := o.(*coordinationv1.Lease)
		l.all++
		patch, err := terms.Cleanup(lease)
		if patch != nil {
			l.leases = append(l.leases, lease)
		}
		return err
	})
}

func (l *leftovers) isEmpty() bool { return len(l.policies)+len(l.leases)+len(l.webhooks) == 0 }

// describe says what there is and what becomes of it.
func (l *leftovers) describe() string {
	var b strings.Builder
	if n := len(l.policies); n > 0 {
		fmt.Fprintf(&b, "To be deleted, policies: %d\n", n)
		for _, p := range l.policies {
			fmt.Fprintf(&b, "  %s\n", policyName(p))
		}
	}
	if n := len(l.leases); n > 0 {
		fmt.Fprintf(&b, "To be taken off, what Leasewarden wrote on Leases: %d of %d\n", n, l.all)
		for _, lease := range l.leases {
			fmt.Fprintf(&b, "  %s\n", client.ObjectKeyFromObject(lease))
		}
	}
	if n := len(l.webhooks); n > 0 {
		fmt.Fprintf(&b, "To be deleted, webhook configurations named %s: %d\n", terms.ConfigurationName, n)
	}
	return b.String()
}

func policyName(policy client.Object) string {
	if policy.GetNamespace() == "" {
		return "ClusterElectionPolicy " + policy.GetName()
	}
	return "ElectionPolicy " + client.ObjectKeyFromObject(policy).String()
}

// remaining names the first of each that is left.
func (l *leftovers) remaining() string {
	var out []string
	if n := len(l.policies); n > 0 {
		out = append(out, fmt.Sprintf("%s (of %d)", policyName(l.policies[0]), n))
	}
	if n := len(l.leases); n > 0 {
		out = append(out, fmt.Sprintf("what is ours on Lease %s (of %d)", client.ObjectKeyFromObject(l.leases[0]), n))
	}
	return strings.Join(out, " and ")
}

func (l *leftovers) deletePolicies(ctx context.Context) error {
	for _, p := range l.policies {
		if err := l.client.Delete(ctx, p); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s: %w", policyName(p), err)
		}
	}
	return nil
}

func (l *leftovers) cleanLeases(ctx context.Context) error {
	for _, lease := range l.leases {
		patch, err := terms.Cleanup(lease)
		if err != nil {
			return err
		}
		err = l.client.Patch(ctx, lease, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(handFieldManager))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("cleaning Lease %s: %w", client.ObjectKeyFromObject(lease), err)
		}
	}
	return nil
}

func (l *leftovers) deleteWebhooks(ctx context.Context) error {
	for _, w := range l.webhooks {
		if err := l.client.Delete(ctx, w); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the webhook configuration %s: %w", w.GetName(), err)
		}
	}
	return nil
}
